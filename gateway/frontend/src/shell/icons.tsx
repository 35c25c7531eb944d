/** What icons draw, each in 16 by 16: lines of one width, so that they are one set. */
const DRAWN = {
  dashboard: "M2.5 2.5h4.5v6h-4.5zM9 2.5h4.5v3.5h-4.5zM9 8h4.5v5.5h-4.5zM2.5 10.5h4.5v3h-4.5z",
  review: "M2.5 8.5l3 3 8-8M2.5 13.5h11",
  suspect: "M8 2.5l6 11h-12zM8 6.5v3.5M8 11.7v.1",
  requirements: "M3.5 2.5h9v11h-9zM6 5.5h4M6 8h4M6 10.5h2.5",
  outline: "M2.5 3.5h11M5 6.8h8.5M5 10h8.5M2.5 13.2h11",
  tree: "M2.5 2.5h4v3h-4zM9.5 6.5h4v3h-4zM9.5 11h4v3h-4zM4.5 5.5v7h5M4.5 8h5",
  testCases: "M6 2.5h4M6.8 2.5v4l-3.8 7h10l-3.8-7v-4M5 10h6",
  matrix: "M2.5 2.5h11v11h-11zM2.5 6.2h11M2.5 9.8h11M6.2 2.5v11M9.8 2.5v11",
  results: "M2.5 13.5v-4M6.2 13.5v-8M9.8 13.5v-6M13.5 13.5v-11",
  import: "M8 2.5v7.5M4.8 7l3.2 3.2 3.2-3.2M2.5 13.5h11",
  export: "M8 10.2v-7.7M4.8 5.7l3.2-3.2 3.2 3.2M2.5 13.5h11",
  notifications: "M4 11.5v-4.5a4 4 0 0 1 8 0v4.5l1 .5h-10zM6.8 13.7h2.4",
  settings: "M2.5 4.5h5M11 4.5h2.5M2.5 11.5h2.5M8.5 11.5h5M7.5 3v3h3.5v-3zM5 10v3h3.5v-3z",
  users:
    "M6 8a2.7 2.7 0 1 0 0-5.4 2.7 2.7 0 0 0 0 5.4M1.8 13.4a4.2 4.2 0 0 1 8.4 0M10.6 2.9a2.7 2.7 0 0 1 0 5M12 9.7a4.2 4.2 0 0 1 2.2 3.7",
  audit: "M8 2.5l5 2v3.5c0 3-2.2 4.8-5 5.7-2.8-.9-5-2.7-5-5.7v-3.5zM5.8 8l1.6 1.6 2.9-3",
} as const

export type IconName = keyof typeof DRAWN

/** A sign beside a word, which says the same. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      aria-hidden="true"
    >
      <path d={DRAWN[name]} strokeLinejoin="round" strokeLinecap="round" />
    </svg>
  )
}

/** The mark of the product: what is asked for, traced to what proves it. */
export function Mark() {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
      <rect width="20" height="20" rx="5" fill="var(--accent)" />
      <path d="M6 14c0-5 8-3 8-8" fill="none" stroke="var(--on-accent)" strokeWidth="1.8" strokeLinecap="round" />
      <circle cx="6" cy="14" r="2.4" fill="var(--on-accent)" />
      <circle cx="14" cy="6" r="2.4" fill="var(--on-accent)" />
    </svg>
  )
}
