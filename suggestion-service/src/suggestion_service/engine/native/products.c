/* Products of vectors of whole numbers, exact in any order. Twice and more as fast as a matrix product of floats, for
 * what counts is how many bytes are read.
 */
#include <stdint.h>

#include "native.h"

static int32_t product(const int16_t *restrict left, const int16_t *restrict right, int64_t dimensions) {
    int32_t total = 0;
    for (int64_t place = 0; place < dimensions; place++) /* becomes vector instructions */
        total += (int32_t)left[place] * (int32_t)right[place];
    return total;
}

void multiply_with_all(const int16_t *left, const int64_t *i, int64_t count, const int16_t *right, int64_t right_rows,
                       int64_t dimensions, int32_t *products) {
    for (int64_t j = 0; j < right_rows; j++) /* the other side is read once */
        for (int64_t place = 0; place < count; place++)
            products[place * right_rows + j] =
                product(left + i[place] * dimensions, right + j * dimensions, dimensions);
}

void multiply_pairs(const int16_t *left, const int64_t *i, const int16_t *right, const int64_t *j, int64_t count,
                    int64_t dimensions, int32_t *products) {
    for (int64_t pair = 0; pair < count; pair++)
        products[pair] = product(left + i[pair] * dimensions, right + j[pair] * dimensions, dimensions);
}

void sum_best_of_groups(const int16_t *left, const int64_t *starts, const int64_t *i, const int16_t *right,
                        const int64_t *right_starts, const int64_t *j, int64_t count, int64_t dimensions,
                        int64_t *sums) {
    for (int64_t pair = 0; pair < count; pair++) {
        int64_t total = 0;
        for (int64_t mine = starts[i[pair]]; mine < starts[i[pair] + 1]; mine++) {
            int32_t best = INT32_MIN;
            for (int64_t theirs = right_starts[j[pair]]; theirs < right_starts[j[pair] + 1]; theirs++) {
                int32_t one = product(left + mine * dimensions, right + theirs * dimensions, dimensions);
                best = one > best ? one : best;
            }
            total += best;
        }
        sums[pair] = total;
    }
}

void bound_embedded_similarity(const float *words, const uint8_t *alive, const double *cosines,
                               const int64_t *embedding_rows, int64_t row_count, double of_words, double of_whole,
                               double of_passages, double passages_from, double rounding, float *most) {
    for (int64_t row = 0; row < row_count; row++) {
        if (!alive[row]) {
            most[row] = 0.0f;
            continue;
        }
        double cosine = embedding_rows[row] < 0 ? (double)words[row] : cosines[embedding_rows[row]];
        double first = of_words * words[row] + (of_whole + of_passages) * cosine;
        if (embedding_rows[row] >= 0 && first >= passages_from - rounding)
            first += of_passages * (1.0 - cosine);
        most[row] = (float)(first + rounding);
    }
}

const char *compiled_from(void) { return SOURCES; }

int runs_x86_64_v3(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("fma");
#else
    return 0;
#endif
}
