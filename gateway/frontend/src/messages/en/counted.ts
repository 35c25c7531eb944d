/** Return the text for so many of something: "1 user", "4 users". */
export const counted =
  (one: string, many = `${one}s`) =>
  (count: number | string) =>
    `${count} ${String(count) === "1" ? one : many}`
