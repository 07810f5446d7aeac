// The search loop of harness/search/astar.py in C++, on the same arrays, to compare the time per expansion with.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace {

struct State {
    int64_t g, h;
    uint32_t stamp;
    int32_t parent;
    uint32_t sequence, closed;
};

struct Entry {
    int64_t f, tie;
    uint32_t sequence;
    int32_t vertex;
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

inline int64_t bound(const int32_t* rows, int64_t columns, const int64_t* memo, int64_t u) {
    const int32_t* row = rows + u * columns;
    int64_t best = 0;
    for (int64_t k = 0; k < columns; ++k) best = std::max<int64_t>(best, std::abs(int64_t(row[k]) - memo[k]));
    return best;
}

}  // namespace

extern "C" void search_all(const uint32_t* indptr, const uint32_t* heads, const int64_t* weights, const int32_t* rows,
                           int64_t columns, int64_t* memo, State* state, Entry* heap, uint32_t* stamp_at,
                           int64_t reopen, int64_t tie_g, int64_t tie_sequence, int64_t queries,
                           const int64_t* sources, const int64_t* targets, int64_t* cost, int64_t* expanded_out) {
    for (int64_t query = 0; query < queries; ++query) {
        const int64_t source = sources[query], target = targets[query];
        for (int64_t k = 0; k < columns; ++k) memo[k] = rows[target * columns + k];
        const uint32_t stamp = ++*stamp_at;
        state[source] = {0, bound(rows, columns, memo, source), stamp, -1, 1, 0};
        sift_up(heap, 0, {state[source].h, 0, 1, int32_t(source)});
        int64_t size = 1, sequence = 1, stale = 0, expanded = 0, reexpanded = 0, h_calls = 1;
        int64_t ceiling = -1, below = 0, level = 0;
        cost[query] = -1;
        while (size > 0) {
            const Entry top = heap[0];
            sift_down(heap, --size);
            const int64_t u = top.vertex;
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
                cost[query] = g;
                break;
            }
            for (int64_t arc = indptr[u]; arc < indptr[u + 1]; ++arc) {
                const int64_t v = heads[arc];
                State& there = state[v];
                const int64_t through = g + weights[arc];
                if (there.stamp != stamp) {
                    there = {int64_t(1) << 62, bound(rows, columns, memo, v), stamp, -1, 0, 0};
                    ++h_calls;
                }
                if (through >= there.g || (there.closed && !reopen)) continue;
                ++sequence;
                there.g = through;
                there.parent = int32_t(u);
                there.sequence = uint32_t(sequence);
                const int64_t tie = through * tie_g + tie_sequence * sequence;
                sift_up(heap, size++, {through + there.h, tie, uint32_t(sequence), int32_t(v)});
            }
        }
        int64_t* out = expanded_out + 6 * query;
        out[0] = expanded;
        out[1] = reexpanded;
        out[2] = sequence;
        out[3] = stale;
        out[4] = h_calls;
        out[5] = below;
    }
}
