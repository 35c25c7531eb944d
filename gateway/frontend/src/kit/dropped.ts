import { useEffect } from "react"

/**
 * Take files that are dropped anywhere on the page: what nobody takes, the browser shows instead of the page.
 *
 * `hold` is told whether a file is held over the page.
 */
export function useDropped(take: (files: File[]) => void, hold?: (isOver: boolean) => void): void {
  useEffect(() => {
    const isFile = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") ?? false
    function over(event: DragEvent) {
      if (!isFile(event)) return
      event.preventDefault()
      hold?.(true)
    }
    function leave({ relatedTarget }: DragEvent) {
      if (relatedTarget === null) hold?.(false)
    }
    function drop(event: DragEvent) {
      if (!isFile(event)) return
      event.preventDefault()
      hold?.(false)
      take([...(event.dataTransfer?.files ?? [])])
    }
    addEventListener("dragover", over)
    addEventListener("dragleave", leave)
    addEventListener("drop", drop)
    return () => {
      removeEventListener("dragover", over)
      removeEventListener("dragleave", leave)
      removeEventListener("drop", drop)
    }
  }, [take, hold])
}
