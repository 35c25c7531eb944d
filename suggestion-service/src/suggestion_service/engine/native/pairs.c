/* All pairs of two sides that reach a threshold: for each left row and block, sum up bounds by the indexed terms,
 * filter by them, compute what is left. The bounds are in single precision; the threshold is lowered by as much as they
 * can be off. Sums run in the order of the terms' spelling, so a pair scores the same to the last bit from either side.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"

enum { SLICE_ROWS = 64, LANES = 8 }; /* as in blocked_postings.py */

static const double TOLERANCE = 1e-9;
/* The relative rounding error of single precision, 2 to the -24, a little more. */
static const double ROUNDING = 6e-8;
/* Above 0: pairs that share no term are never found. */
static const double LEAST_BOUND = 1e-30;

/* The length of one entry over all parts: what a pair shares adds at most the product of its lengths. */
static double entry_length(const vectors *side, int64_t entry) {
    double square = 0.0;
    for (int64_t part = 0; part < side->parts; part++) {
        double value = side->values[part * side->entries + entry];
        square += side->weights[part] * (value * value);
    }
    return sqrt(square);
}

void count_postings(vectors side, const int32_t *column_of, int64_t width, int64_t block_rows, int64_t blocks,
                    int64_t *firsts, int32_t *starts) {
    firsts[0] = 0;
    for (int64_t block = 0; block < blocks; block++) {
        int32_t *mine = starts + block * (width + 1);
        int64_t start = block * block_rows;
        int64_t stop = start + block_rows < side.rows ? start + block_rows : side.rows;
        memset(mine, 0, (size_t)(width + 1) * sizeof *mine);
        for (int64_t entry = side.starts[start]; entry < side.starts[stop]; entry++)
            if (column_of[side.terms[entry]] < 0)
                mine[side.terms[entry] + 1]++;
        for (int64_t term = 0; term < width; term++)
            mine[term + 1] += mine[term];
        firsts[block + 1] = firsts[block] + mine[width];
    }
}

void fill_postings(vectors side, const int32_t *column_of, int64_t width, int64_t columns, int64_t block_rows,
                   int64_t blocks, const int64_t *firsts, const int32_t *starts, int64_t *next, uint16_t *rows,
                   float *lengths, float *high_df_norms, float *high_df_lengths) {
    for (int64_t block = 0; block < blocks; block++) {
        int64_t start = block * block_rows;
        int64_t stop = start + block_rows < side.rows ? start + block_rows : side.rows;
        for (int64_t term = 0; term < width; term++)
            next[term] = firsts[block] + starts[block * (width + 1) + term];
        for (int64_t row = start; row < stop; row++) {
            double high_df_square = 0.0;
            for (int64_t entry = side.starts[row]; entry < side.starts[row + 1]; entry++) {
                int32_t term = side.terms[entry];
                double length = entry_length(&side, entry);
                if (column_of[term] >= 0) {
                    high_df_square += length * length;
                    if (columns)
                        high_df_lengths[row * columns + column_of[term]] = (float)length;
                } else {
                    rows[next[term]] = (uint16_t)(row - start);
                    lengths[next[term]] = (float)length;
                    next[term]++;
                }
            }
            high_df_norms[row] = (float)sqrt(high_df_square); /* (blocks, block_rows) lies row by row */
        }
    }
}

/* The left rows of one search: starts, terms and lengths of their indexed terms, norms of their high-df ones, and these
 * in columns. */
typedef struct {
    int64_t *starts;
    int32_t *terms;
    float *lengths, *high_df_norms, *high_df_lengths;
} query_rows;

static void prepare(const vectors *left, const int64_t *rows, int64_t count, const index_of_postings *index,
                    query_rows *query) {
    int64_t indexed = 0;
    query->starts[0] = 0;
    for (int64_t at = 0; at < count; at++) {
        double high_df_square = 0.0;
        for (int64_t entry = left->starts[rows[at]]; entry < left->starts[rows[at] + 1]; entry++) {
            int32_t term = left->terms[entry];
            double length = entry_length(left, entry);
            if (index->column_of[term] >= 0) {
                high_df_square += length * length;
                if (index->columns)
                    query->high_df_lengths[at * index->columns + index->column_of[term]] = (float)length;
            } else {
                query->terms[indexed] = term;
                query->lengths[indexed] = (float)length;
                indexed++;
            }
        }
        query->high_df_norms[at] = (float)sqrt(high_df_square);
        query->starts[at + 1] = indexed;
    }
}

static void add(float *restrict bounds, const uint16_t *restrict rows, const float *restrict lengths, int64_t count,
                float length) {
    for (int64_t place = 0; place < count; place++)
        bounds[rows[place]] += length * lengths[place];
}

/* The prefix filter: write the places whose bound reaches the limit to `candidates`, the bounds of their indexed terms
 * to `indexed_bounds`; return how many there are, and set `bounds` to 0. */
static int64_t filter_by_norm(float *restrict bounds, const float *restrict high_df_norms, int64_t block_rows,
                              float high_df_norm, float limit, int64_t *restrict candidates,
                              float *restrict indexed_bounds) {
    int64_t count = 0;
    for (int64_t start = 0; start < block_rows; start += SLICE_ROWS) {
        float *slice = bounds + start;
        const float *norms = high_df_norms + start;
        int32_t hits = 0;
        for (int at = 0; at < SLICE_ROWS; at++) /* becomes vector instructions, because it always runs to its end */
            hits += slice[at] + high_df_norm * norms[at] >= limit;
        if (hits)
            for (int at = 0; at < SLICE_ROWS; at++)
                if (slice[at] + high_df_norm * norms[at] >= limit) {
                    candidates[count] = start + at;
                    indexed_bounds[count] = slice[at];
                    count++;
                }
        memset(slice, 0, SLICE_ROWS * sizeof *slice);
    }
    return count;
}

/* Keep the candidates that reach the limit when each high-df term is bounded by itself; return how many these are. */
static int64_t filter_by_term(int64_t *restrict candidates, int64_t count, const float *restrict indexed_bounds,
                              const float *restrict high_df_lengths, const float *restrict mine, int64_t columns,
                              float limit) {
    int64_t left = 0;
    for (int64_t place = 0; place < count; place++) {
        const float *theirs = high_df_lengths + candidates[place] * columns;
        float lanes[LANES] = {0};
        for (int64_t start = 0; start < columns; start += LANES)
            for (int lane = 0; lane < LANES; lane++) /* becomes vector instructions */
                lanes[lane] += mine[start + lane] * theirs[start + lane];
        float bound = indexed_bounds[place];
        for (int lane = 0; lane < LANES; lane++)
            bound += lanes[lane];
        if (bound >= limit)
            candidates[left++] = candidates[place];
    }
    return left;
}

/* The score of one candidate: its dot products with the row laid out by term, (width, parts), weighed. Two sums in one
 * walk; where there is one part, it is walked twice at no cost. */
static double score_of(const vectors *right, int64_t row, const double *by_term) {
    const double *values = right->values, *others = right->values + (right->parts - 1) * right->entries;
    const double *weights = right->weights;
    int64_t parts = right->parts;
    double first = 0.0, other = 0.0;
    for (int64_t entry = right->starts[row]; entry < right->starts[row + 1]; entry++) {
        const double *mine = by_term + right->terms[entry] * parts;
        first += mine[0] * values[entry];
        other += mine[parts - 1] * others[entry];
    }
    double score = 0.0 + weights[0] * first;
    return parts == 1 ? score : score + weights[1] * other;
}

static int grow(pairs *found, int64_t needed, int64_t *capacity) {
    int64_t size = needed > 2 * *capacity ? needed : 2 * *capacity;
    int64_t *left = realloc(found->left, (size_t)size * sizeof *left);
    if (left)
        found->left = left;
    int64_t *right = realloc(found->right, (size_t)size * sizeof *right);
    if (right)
        found->right = right;
    double *scores = realloc(found->scores, (size_t)size * sizeof *scores);
    if (scores)
        found->scores = scores;
    *capacity = size;
    return left && right && scores;
}

/* Return 0, or -1 when there is no memory. Two parts at most. */
int search_pairs(vectors left, const int64_t *rows, int64_t row_count, vectors right, index_of_postings index,
                 double threshold, pairs *found) {
    int64_t entries = 0, capacity = 256, block_rows = index.block_rows, parts = left.parts;
    for (int64_t at = 0; at < row_count; at++)
        entries += left.starts[rows[at] + 1] - left.starts[rows[at]];
    query_rows query = {
        .starts = malloc((size_t)(row_count + 1) * sizeof(int64_t)),
        .terms = malloc((size_t)(entries + 1) * sizeof(int32_t)),
        .lengths = malloc((size_t)(entries + 1) * sizeof(float)),
        .high_df_norms = malloc((size_t)(row_count + 1) * sizeof(float)),
        .high_df_lengths = calloc((size_t)(row_count * index.columns + 1), sizeof(float)),
    };
    float *bounds = calloc((size_t)block_rows, sizeof *bounds);
    float *indexed_bounds = malloc((size_t)block_rows * sizeof *indexed_bounds);
    int64_t *candidates = malloc((size_t)block_rows * sizeof *candidates);
    double *by_term = calloc((size_t)(index.width * parts + 1), sizeof *by_term);
    int result = -1;
    *found = (pairs){
        .left = malloc((size_t)capacity * sizeof(int64_t)),
        .right = malloc((size_t)capacity * sizeof(int64_t)),
        .scores = malloc((size_t)capacity * sizeof(double)),
    };
    if (!query.starts || !query.terms || !query.lengths || !query.high_df_norms || !query.high_df_lengths || !bounds ||
        !indexed_bounds || !candidates || !by_term || !found->left || !found->right || !found->scores)
        goto end;
    prepare(&left, rows, row_count, &index, &query);
    for (int64_t block = 0; block < index.blocks; block++) {
        const uint16_t *block_postings = index.rows + index.firsts[block];
        const float *block_lengths = index.lengths + index.firsts[block];
        const int32_t *starts = index.starts + block * (index.width + 1);
        for (int64_t at = 0; at < row_count; at++) {
            int64_t row = rows[at];
            for (int64_t entry = query.starts[at]; entry < query.starts[at + 1]; entry++) {
                int64_t start = starts[query.terms[entry]], stop = starts[query.terms[entry] + 1];
                add(bounds, block_postings + start, block_lengths + start, stop - start, query.lengths[entry]);
                found->postings_read += stop - start;
            }
            double slack = TOLERANCE + ROUNDING * (double)(left.starts[row + 1] - left.starts[row] + 8);
            float limit = (float)(threshold - slack > LEAST_BOUND ? threshold - slack : LEAST_BOUND);
            int64_t count = filter_by_norm(bounds, index.high_df_norms + block * block_rows, block_rows,
                                           query.high_df_norms[at], limit, candidates, indexed_bounds);
            found->candidates += count;
            for (int64_t place = 0; place < count; place++)
                candidates[place] += block * block_rows;
            if (index.columns)
                count = filter_by_term(candidates, count, indexed_bounds, index.high_df_lengths,
                                       query.high_df_lengths + at * index.columns, index.columns, limit);
            if (count == 0)
                continue;
            found->verified += count;
            if (found->count + count > capacity && !grow(found, found->count + count, &capacity))
                goto end;
            for (int64_t entry = left.starts[row]; entry < left.starts[row + 1]; entry++)
                for (int64_t part = 0; part < parts; part++)
                    by_term[left.terms[entry] * parts + part] = left.values[part * left.entries + entry];
            for (int64_t place = 0; place < count; place++) {
                double score = score_of(&right, candidates[place], by_term);
                if (score > 0.0 && score >= threshold - TOLERANCE) {
                    found->left[found->count] = row;
                    found->right[found->count] = candidates[place];
                    found->scores[found->count] = score;
                    found->count++;
                }
            }
            for (int64_t entry = left.starts[row]; entry < left.starts[row + 1]; entry++)
                for (int64_t part = 0; part < parts; part++)
                    by_term[left.terms[entry] * parts + part] = 0.0;
        }
    }
    result = 0;
end:
    free(query.starts), free(query.terms), free(query.lengths), free(query.high_df_norms), free(query.high_df_lengths);
    free(bounds), free(indexed_bounds), free(candidates), free(by_term);
    if (result)
        free_pairs(found);
    return result;
}

void free_pairs(pairs *found) {
    free(found->left), free(found->right), free(found->scores);
    *found = (pairs){0};
}
