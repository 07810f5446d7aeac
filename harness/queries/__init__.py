"""Query sets: how they are drawn, split, stratified and named by digest."""
