"""The AAC paper's exhibits replayed: printed and replayed numbers side by side, and the claims of its text checked."""
