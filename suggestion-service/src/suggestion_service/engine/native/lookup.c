/* One item against all of the other side: loops over an inverted index of its rows, see inverted_index.py. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "native.h"

/* The greatest relative change of weights (parts, terms), of the terms that were and are used. */
double greatest_drift(int64_t parts, const double *then, int64_t then_width, const double *now, int64_t now_width) {
    int64_t width = then_width < now_width ? then_width : now_width;
    double most = 0.0;
    for (int64_t part = 0; part < parts; part++)
        for (int64_t term = 0; term < width; term++) {
            double before = then[part * then_width + term], after = now[part * now_width + term];
            if (before > 0.0 && after > 0.0) {
                double change = fabs(after / before - 1.0);
                most = change > most ? change : most;
            }
        }
    return most;
}

/* `next` (terms,): where each term's postings begin, moved to where they end. */
void fill_rows_by_term(const int64_t *starts, int64_t row_count, const int32_t *terms, const double *counts,
                       int64_t *next, int32_t *rows, float *row_counts) {
    for (int64_t row = 0; row < row_count; row++)
        for (int64_t entry = starts[row]; entry < starts[row + 1]; entry++) {
            int64_t place = next[terms[entry]]++;
            rows[place] = (int32_t)row;
            row_counts[place] = (float)counts[entry];
        }
}

void write_norms(const int64_t *starts, const int32_t *terms, const double *counts, const double *scales, int64_t parts,
                 int64_t width, int64_t row_count, const uint8_t *common, float *norms, float *of_common) {
    for (int64_t part = 0; part < parts; part++)
        for (int64_t row = 0; row < row_count; row++) {
            double total = 0.0, of_common_total = 0.0;
            for (int64_t entry = starts[row]; entry < starts[row + 1]; entry++) {
                double weight = counts[entry] * scales[part * width + terms[entry]];
                total += weight * weight;
                if (common[terms[entry]])
                    of_common_total += weight * weight;
            }
            norms[part * row_count + row] = (float)sqrt(total);
            of_common[part * row_count + row] = (float)sqrt(of_common_total);
        }
}

static double norm(const int32_t *terms, const double *counts, int64_t start, int64_t end, const double *scale) {
    double total = 0.0;
    for (int64_t entry = start; entry < end; entry++) {
        double weight = counts[entry] * scale[terms[entry]];
        total += weight * weight;
    }
    return sqrt(total);
}

/* What to divide by: of a vector of zeros, zeros stay. */
static double divisor(double norm) { return norm > 0.0 ? norm : 1.0; }

void write_unit_values(const int64_t *starts, const int32_t *terms, const double *counts, int64_t entries,
                       const uint8_t *alive, int64_t row_count, const double *scales, int64_t parts, int64_t width,
                       double *values) {
    for (int64_t part = 0; part < parts; part++) {
        const double *scale = scales + part * width;
        double *mine = values + part * entries;
        for (int64_t row = 0; row < row_count; row++) {
            double by = alive[row] ? divisor(norm(terms, counts, starts[row], starts[row + 1], scale)) : 1.0;
            for (int64_t entry = starts[row]; entry < starts[row + 1]; entry++)
                mine[entry] = alive[row] ? counts[entry] * scale[terms[entry]] / by : 0.0;
        }
    }
}

void bound_similarity(int64_t row_count, const int64_t *starts, int64_t indexed_terms, const int32_t *rows,
                      const float *counts, const uint8_t *common, const float *norms, const float *common_norms,
                      int64_t indexed, const int32_t *item_terms, const double *item_counts, int64_t item_size,
                      const double *scales, int64_t parts, int64_t width, const double *weights, float *sums,
                      float *similarity) {
    memset(similarity, 0, (size_t)row_count * sizeof *similarity);
    for (int64_t part = 0; part < parts; part++) {
        const double *scale = scales + part * width;
        const float *part_norms = norms + part * indexed, *part_common = common_norms + part * indexed;
        double mine = norm(item_terms, item_counts, 0, item_size, scale);
        if (mine == 0.0)
            continue;
        memset(sums, 0, (size_t)indexed * sizeof *sums);
        double common_square = 0.0;
        for (int64_t k = 0; k < item_size; k++) {
            int32_t term = item_terms[k];
            if (term >= indexed_terms)
                continue;
            double weight = item_counts[k] * scale[term];
            if (common[term]) {
                common_square += weight * weight;
                continue;
            }
            float factor = (float)(weights[part] * weight / mine * scale[term]);
            for (int64_t place = starts[term]; place < starts[term + 1]; place++)
                sums[rows[place]] += factor * counts[place];
        }
        float of_common = (float)(weights[part] * sqrt(common_square) / mine);
        for (int64_t row = 0; row < indexed; row++) {
            float share = (sums[row] + of_common * part_common[row]) / part_norms[row];
            similarity[row] += part_norms[row] > 0.0f ? share : 0.0f;
        }
    }
    /* What is not in the index may be similar to anything. */
    for (int64_t row = indexed; row < row_count; row++)
        similarity[row] = 2.0f;
}

/* Read the postings of the item's terms in `order`, up to `most` of them. `sums` (rows,) are zeros; `sharing` and
 * `similarity` have room for `most`. Return how many rows share any. */
int64_t find_sharing_rarest(const int64_t *starts, int64_t indexed_terms, const int32_t *rows, const float *counts,
                            const float *norms, const int32_t *item_terms, const double *item_counts,
                            const int64_t *order, int64_t item_size, const double *scale, int64_t most, float *sums,
                            int64_t *sharing, float *similarity) {
    int64_t read = 0, size = 0;
    for (int64_t n = 0; n < item_size; n++) {
        int64_t k = order[n];
        int32_t term = item_terms[k];
        if (term >= indexed_terms)
            continue;
        read += starts[term + 1] - starts[term];
        if (read > most)
            break;
        float factor = (float)(item_counts[k] * (scale[term] * scale[term]));
        for (int64_t place = starts[term]; place < starts[term + 1]; place++) {
            int32_t row = rows[place];
            if (sums[row] == 0.0f)
                sharing[size++] = row;
            sums[row] += factor * counts[place];
            if (sums[row] == 0.0f) /* a weight of 0, or one too small for single precision: not to be listed twice */
                sums[row] = 1e-38f;
        }
    }
    for (int64_t place = 0; place < size; place++) {
        float theirs = norms[sharing[place]];
        similarity[place] = theirs > 0.0f ? sums[sharing[place]] / theirs : 0.0f;
    }
    return size;
}

/* `place` (width,) is -1 everywhere; `mine` has room for the item's terms. */
void write_cosines(const int32_t *item_terms, const double *item_counts, int64_t item_size, const int64_t *starts,
                   const int32_t *terms, const double *counts, const int64_t *rows, int64_t row_count,
                   const double *scales, int64_t parts, int64_t width, int32_t *place, double *mine, double *cosines) {
    for (int64_t k = 0; k < item_size; k++)
        place[item_terms[k]] = (int32_t)k;
    for (int64_t part = 0; part < parts; part++) {
        const double *scale = scales + part * width;
        double by = divisor(norm(item_terms, item_counts, 0, item_size, scale));
        for (int64_t k = 0; k < item_size; k++)
            mine[k] = item_counts[k] * scale[item_terms[k]] / by;
        for (int64_t n = 0; n < row_count; n++) {
            int64_t start = starts[rows[n]], end = starts[rows[n] + 1];
            double theirs = divisor(norm(terms, counts, start, end, scale)), total = 0.0;
            for (int64_t entry = start; entry < end; entry++) {
                int32_t k = place[terms[entry]];
                if (k >= 0)
                    total += mine[k] * (counts[entry] * scale[terms[entry]] / theirs);
            }
            cosines[part * row_count + n] = total;
        }
    }
}

/* `place` (width,) is -1 everywhere, and is so again at the end. `bounds` (pairs + 1,), `names` (most,), `products`
 * (parts, most). Return how many terms are shared in all. */
int64_t write_shared(const int64_t *starts, const int32_t *terms, const double *counts, const int64_t *i,
                     const int64_t *other_starts, const int32_t *other_terms, const double *other_counts,
                     const int64_t *j, int64_t pair_count, const double *scales, int64_t parts, int64_t width,
                     int64_t most, int64_t *place, int64_t *bounds, int32_t *names, double *products) {
    int64_t size = 0;
    bounds[0] = 0;
    for (int64_t pair = 0; pair < pair_count; pair++) {
        int64_t start = starts[i[pair]], end = starts[i[pair] + 1], first = size;
        int64_t other_start = other_starts[j[pair]], other_end = other_starts[j[pair] + 1];
        for (int64_t entry = start; entry < end; entry++)
            place[terms[entry]] = entry;
        for (int64_t other = other_start; other < other_end; other++)
            if (place[other_terms[other]] >= 0)
                names[size++] = other_terms[other];
        for (int64_t part = 0; part < parts; part++) {
            const double *scale = scales + part * width;
            double mine = divisor(norm(terms, counts, start, end, scale));
            double theirs = divisor(norm(other_terms, other_counts, other_start, other_end, scale));
            int64_t at = part * most + first;
            for (int64_t other = other_start; other < other_end; other++) {
                int64_t entry = place[other_terms[other]];
                if (entry >= 0) {
                    double weight = scale[terms[entry]];
                    products[at++] = (counts[entry] * weight / mine) * (other_counts[other] * weight / theirs);
                }
            }
        }
        for (int64_t entry = start; entry < end; entry++)
            place[terms[entry]] = -1;
        bounds[pair + 1] = size;
    }
    return size;
}

/* What the terms that pairs have in common say: the sum of their information, which is given by how many items have a
 * term, the smaller of the shares that it is of all that either item says, and whether one of them is rare. Inferred
 * terms (none: NULL) say nothing. `place` (terms,) is -1 everywhere. */
void write_evidence(const int64_t *starts, const int32_t *terms, const int64_t *i, const int64_t *other_starts,
                    const int32_t *other_terms, const int64_t *j, int64_t pair_count, const int64_t *frequencies,
                    const double *information, const uint8_t *inferred, double rare_up_to, int64_t *place,
                    double *shared, double *share, uint8_t *shares_rare) {
    double mine = 0.0;
    int64_t first = 0; /* the pair that `place` was filled for: those of one row come one after the other */
    for (int64_t pair = 0; pair < pair_count; pair++) {
        if (pair == 0 || i[pair] != i[pair - 1]) {
            first = pair;
            mine = 0.0;
            for (int64_t entry = starts[i[pair]]; entry < starts[i[pair] + 1]; entry++) {
                place[terms[entry]] = first;
                if (!inferred || !inferred[terms[entry]])
                    mine += information[frequencies[terms[entry]]];
            }
        }
        double theirs = 0.0, both = 0.0;
        uint8_t any_rare = 0;
        for (int64_t entry = other_starts[j[pair]]; entry < other_starts[j[pair] + 1]; entry++) {
            int32_t term = other_terms[entry];
            if (inferred && inferred[term])
                continue;
            theirs += information[frequencies[term]];
            if (place[term] == first) {
                both += information[frequencies[term]];
                any_rare |= (double)frequencies[term] <= rare_up_to;
            }
        }
        double larger = mine > theirs ? mine : theirs;
        shared[pair] = both;
        share[pair] = larger > 0.0 ? both / larger : 0.0;
        shares_rare[pair] = any_rare;
    }
}

/* Write the places of the `count` largest values above 0, of all such where they are fewer; return how many. */
int64_t find_largest(const float *values, int64_t length, int64_t count, int64_t *places) {
    int64_t size = 0, least = 0;
    for (int64_t place = 0; place < length; place++) {
        if (values[place] <= 0.0f || (size == count && values[place] <= values[places[least]]))
            continue;
        if (size < count)
            places[size++] = place;
        else
            places[least] = place;
        for (int64_t other = 0; other < size; other++)
            if (values[places[other]] < values[places[least]])
                least = other;
    }
    return size;
}

/* Put values where they belong among the best of their rows, (rows, count), best first. */
void put_among_best(double *best, int64_t count, const int64_t *rows, const double *values, int64_t length) {
    for (int64_t n = 0; n < length; n++) {
        double *row = best + rows[n] * count;
        int64_t place = count;
        while (place > 0 && values[n] > row[place - 1])
            place--;
        for (int64_t later = count - 1; later > place; later--)
            row[later] = row[later - 1];
        if (place < count)
            row[place] = values[n];
    }
}

void count_shared_labels(const int64_t *starts, const int32_t *labels, const int64_t *i, const int64_t *other_starts,
                         const int32_t *other_labels, const int64_t *j, int64_t pair_count, int64_t *shared) {
    for (int64_t pair = 0; pair < pair_count; pair++) {
        shared[pair] = 0;
        for (int64_t mine = starts[i[pair]]; mine < starts[i[pair] + 1]; mine++)
            for (int64_t other = other_starts[j[pair]]; other < other_starts[j[pair] + 1]; other++)
                shared[pair] += labels[mine] == other_labels[other];
    }
}
