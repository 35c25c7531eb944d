import { useSyncExternalStore } from "react"

/** Return a value that is kept outside of components: `use` reads it in one, which is shown again when it changes. */
export function store<T>(value: T) {
  const listeners = new Set<() => void>()
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  const get = () => value
  return {
    get,
    set(next: T) {
      if (next === value) return
      value = next
      for (const listener of listeners) listener()
    },
    use: (): T => useSyncExternalStore(subscribe, get),
  }
}

/** Return what this browser has kept under a name; `otherwise` when that is nothing, or no JSON. */
export function kept<T>(name: string, otherwise: T, storage?: Storage): T {
  try {
    return JSON.parse((storage ?? localStorage).getItem(name) ?? "null") ?? otherwise
  } catch {
    return otherwise
  }
}
