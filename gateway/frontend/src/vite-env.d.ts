/// <reference types="vite/client" />

declare namespace React {
  interface CSSProperties {
    [property: `--${string}`]: string | number | undefined
  }
}
