// The search loop of harness/search/astar.py in C++, on the same arrays, to compare the time per expansion with.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>

namespace {

struct State {
    int64_t g, h;
    uint32_t stamp;
    uint32_t parent, sequence, closed;
};

struct Entry {
    int64_t f, tie;
    uint32_t sequence, vertex;
};

inline bool before(const Entry& a, const Entry& b) {
    if (a.f != b.f) return a.f < b.f;
    if (a.tie != b.tie) return a.tie < b.tie;
    return a.sequence < b.sequence;
}

inline void sift_up(Entry* heap, int64_t size, Entry entry) {
    int64_t hole = size;
    while (hole > 0) {
        int64_t up = (hole - 1) >> 2;
        if (before(heap[up], entry)) break;
        heap[hole] = heap[up];
        hole = up;
    }
    heap[hole] = entry;
}

inline void sift_down(Entry* heap, int64_t size) {
    Entry last = heap[size];
    int64_t hole = 0, child = 1;
    while (child < size) {
        int64_t best = child, end = std::min(child + 4, size);
        for (int64_t other = child + 1; other < end; ++other)
            if (before(heap[other], heap[best])) best = other;
        if (before(last, heap[best])) break;
        heap[hole] = heap[best];
        hole = best;
        child = 4 * hole + 1;
    }
    heap[hole] = last;
}

// The first `both` columns serve both directions, the next `forward` hold d(l, v), the rest d(v, l).
struct Labels {
    const int32_t* rows;
    int64_t columns, both, forward;
};

inline int64_t bound(const Labels& labels, const int64_t* memo, int64_t u) {
    const int32_t* row = labels.rows + u * labels.columns;
    const int64_t ahead = labels.both + labels.forward;
    int64_t best = 0;
    for (int64_t k = 0; k < labels.both; ++k) best = std::max<int64_t>(best, std::abs(int64_t(row[k]) - memo[k]));
    for (int64_t k = labels.both; k < ahead; ++k) best = std::max<int64_t>(best, memo[k] - row[k]);
    for (int64_t k = ahead; k < labels.columns; ++k) best = std::max<int64_t>(best, row[k] - memo[k]);
    return best;
}

// The cost of the path that the parents tell, summed anew; the path goes to the end of `path`.
inline int64_t trace(const uint32_t* indptr, const uint32_t* heads, const int64_t* weights, const State* state,
                     uint32_t* path, int64_t vertices, uint32_t source, uint32_t target) {
    int64_t first = vertices, cost = 0;
    for (uint32_t v = target; v != source; v = state[v].parent) path[--first] = v;
    for (uint32_t u = source; first < vertices; u = path[first++]) {
        uint32_t arc = indptr[u];
        while (heads[arc] != path[first]) ++arc;
        cost += weights[arc];
    }
    return cost;
}

}  // namespace

// Columns of `out`, a row a query: cost, path cost, expanded, re-expanded, generated, stale pops, h calls, below, on.
extern "C" void search_all(const uint32_t* indptr, const uint32_t* heads, const int64_t* weights, int64_t vertices,
                           const int32_t* rows, int64_t columns, int64_t both, int64_t forward, int64_t* memo,
                           State* state, Entry* heap, uint32_t* path, uint32_t* stamp_at, int64_t reopen,
                           int64_t tie_g, int64_t tie_sequence, int64_t queries, const int64_t* sources,
                           const int64_t* targets, int64_t* out) {
    const Labels labels = {rows, columns, both, forward};
    for (int64_t query = 0; query < queries; ++query) {
        const uint32_t source = uint32_t(sources[query]), target = uint32_t(targets[query]);
        for (int64_t k = 0; k < columns; ++k) memo[k] = rows[int64_t(target) * columns + k];
        const uint32_t stamp = ++*stamp_at;
        state[source] = {0, bound(labels, memo, source), stamp, 0, 1, 0};
        sift_up(heap, 0, {state[source].h, 0, 1, source});
        int64_t size = 1, sequence = 1, stale = 0, expanded = 0, reexpanded = 0, h_calls = 1;
        int64_t ceiling = -1, below = 0, level = 0;
        int64_t found = -1;
        while (size > 0) {
            const Entry top = heap[0];
            sift_down(heap, --size);
            const uint32_t u = top.vertex;
            State& here = state[u];
            if (reopen ? top.sequence != here.sequence : here.closed != 0) {
                ++stale;
                continue;
            }
            ++expanded;
            reexpanded += here.closed;
            here.closed = 1;
            if (top.f < ceiling) {
                ++below;
            } else if (top.f == ceiling) {
                ++level;
            } else {
                below += level;
                level = 1;
                ceiling = top.f;
            }
            const int64_t g = here.g;
            if (u == target) {
                found = g;
                break;
            }
            for (uint32_t arc = indptr[u]; arc < indptr[u + 1]; ++arc) {
                const uint32_t v = heads[arc];
                State& there = state[v];
                const int64_t through = g + weights[arc];
                if (there.stamp != stamp) {
                    there = {int64_t(1) << 62, bound(labels, memo, v), stamp, 0, 0, 0};
                    ++h_calls;
                }
                if (through >= there.g || (there.closed && !reopen)) continue;
                ++sequence;
                there.g = through;
                there.parent = u;
                there.sequence = uint32_t(sequence);
                const int64_t tie = through * tie_g + tie_sequence * sequence;
                sift_up(heap, size++, {through + there.h, tie, uint32_t(sequence), v});
            }
        }
        const int64_t path_cost =
            found < 0 ? -1 : trace(indptr, heads, weights, state, path, vertices, source, target);
        const int64_t row[] = {found, path_cost, expanded, reexpanded, sequence, stale, h_calls, below, level};
        std::copy(std::begin(row), std::end(row), out + 9 * query);
    }
}
