/* What Python calls; read by the compiler and by native/__init__.py alike, so declarations only.
 *
 * Arrays are C-contiguous, of shapes as the calling modules say. Nothing here keeps a pointer or a state after it
 * returns, and inputs are only read, so any number of threads may call at once.
 */

/* Sparse vectors of one side, see sparse_vectors.py: starts (rows + 1,), terms and values (parts, entries). */
typedef struct {
    int64_t rows, entries, parts;
    const int64_t *starts;
    const int32_t *terms;
    const double *values;
    const double *weights;
} vectors;

/* The inverted index of one side, see blocked_postings.py. */
typedef struct {
    int64_t width, blocks, block_rows, columns;
    const int32_t *column_of;
    const int64_t *firsts;
    const int32_t *starts;
    const uint16_t *rows;
    const float *lengths;
    const float *high_df_norms;
    const float *high_df_lengths;
} index_of_postings;

/* What a search finds: `count` pairs, to be given back with free_pairs, and what finding them took. */
typedef struct {
    int64_t count, postings_read, candidates, verified;
    int64_t *left, *right;
    double *scores;
} pairs;

/* pairs.c */
void count_postings(vectors side, const int32_t *column_of, int64_t width, int64_t block_rows, int64_t blocks,
                    int64_t *firsts, int32_t *starts);
void fill_postings(vectors side, const int32_t *column_of, int64_t width, int64_t columns, int64_t block_rows,
                   int64_t blocks, const int64_t *firsts, const int32_t *starts, int64_t *next, uint16_t *rows,
                   float *lengths, float *high_df_norms, float *high_df_lengths);
int search_pairs(vectors left, const int64_t *rows, int64_t row_count, vectors right, index_of_postings index,
                 double threshold, pairs *found);
void free_pairs(pairs *found);

/* lookup.c */
double greatest_drift(int64_t parts, const double *then, int64_t then_width, const double *now, int64_t now_width);
void fill_rows_by_term(const int64_t *starts, int64_t row_count, const int32_t *terms, const double *counts,
                       int64_t *next, int32_t *rows, float *row_counts);
void write_norms(const int64_t *starts, const int32_t *terms, const double *counts, const double *scales, int64_t parts,
                 int64_t width, int64_t row_count, const uint8_t *common, float *norms, float *of_common);
void write_unit_values(const int64_t *starts, const int32_t *terms, const double *counts, int64_t entries,
                       const uint8_t *alive, int64_t row_count, const double *scales, int64_t parts, int64_t width,
                       double *values);
void bound_similarity(int64_t row_count, const int64_t *starts, int64_t indexed_terms, const int32_t *rows,
                      const float *counts, const uint8_t *common, const float *norms, const float *common_norms,
                      int64_t indexed, const int32_t *item_terms, const double *item_counts, int64_t item_size,
                      const double *scales, int64_t parts, int64_t width, const double *weights, float *sums,
                      float *similarity);
int64_t find_sharing_rarest(const int64_t *starts, int64_t indexed_terms, const int32_t *rows, const float *counts,
                            const float *norms, const int32_t *item_terms, const double *item_counts,
                            const int64_t *order, int64_t item_size, const double *scale, int64_t most, float *sums,
                            int64_t *sharing, float *similarity);
void write_cosines(const int32_t *item_terms, const double *item_counts, int64_t item_size, const int64_t *starts,
                   const int32_t *terms, const double *counts, const int64_t *rows, int64_t row_count,
                   const double *scales, int64_t parts, int64_t width, int32_t *place, double *mine, double *cosines);
int64_t write_shared(const int64_t *starts, const int32_t *terms, const double *counts, const int64_t *i,
                     const int64_t *other_starts, const int32_t *other_terms, const double *other_counts,
                     const int64_t *j, int64_t pair_count, const double *scales, int64_t parts, int64_t width,
                     int64_t most, int64_t *place, int64_t *bounds, int32_t *names, double *products);
void write_evidence(const int64_t *starts, const int32_t *terms, const int64_t *i, const int64_t *other_starts,
                    const int32_t *other_terms, const int64_t *j, int64_t pair_count, const int64_t *frequencies,
                    const double *information, const uint8_t *inferred, double rare_up_to, int64_t *place,
                    double *shared, double *share, uint8_t *shares_rare);
int64_t find_largest(const float *values, int64_t length, int64_t count, int64_t *places);
void put_among_best(double *best, int64_t count, const int64_t *rows, const double *values, int64_t length);
void count_shared_labels(const int64_t *starts, const int32_t *labels, const int64_t *i, const int64_t *other_starts,
                         const int32_t *other_labels, const int64_t *j, int64_t pair_count, int64_t *shared);

/* products.c */
void multiply_with_all(const int16_t *left, const int64_t *i, int64_t count, const int16_t *right, int64_t right_rows,
                       int64_t dimensions, int32_t *products);
void multiply_pairs(const int16_t *left, const int64_t *i, const int16_t *right, const int64_t *j, int64_t count,
                    int64_t dimensions, int32_t *products);
void sum_best_of_groups(const int16_t *left, const int64_t *starts, const int64_t *i, const int16_t *right,
                        const int64_t *right_starts, const int64_t *j, int64_t count, int64_t dimensions,
                        int64_t *sums);
void bound_embedded_similarity(const float *words, const uint8_t *alive, const double *cosines,
                               const int64_t *embedding_rows, int64_t row_count, double of_words, double of_whole,
                               double of_passages, double passages_from, double rounding, float *most);

/* The fingerprint of the sources that this was compiled from, see sources.py. */
const char *compiled_from(void);

/* Whether this processor runs what was compiled for x86-64-v3. */
int runs_x86_64_v3(void);
