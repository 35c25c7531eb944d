const ACCENTED: Record<string, string> = {
  a: "á",
  e: "é",
  i: "í",
  o: "ó",
  u: "ú",
  A: "Á",
  E: "É",
  O: "Ó",
  n: "ñ",
  c: "ç",
}

/** No language has words without end: where a text grows by more, it may be broken there. */
const LONGEST_WORD = /~{12}(?=~)/g

/** Return messages 40 % longer, with accents and brackets: what is cut or was never translated is seen at once. */
export function pseudo<T>(messages: T): T {
  if (typeof messages === "string") return stretched(messages) as T
  if (typeof messages === "function") {
    return ((...args: unknown[]) => pseudo((messages as (...args: unknown[]) => unknown)(...args))) as T
  }
  if (Array.isArray(messages)) return messages.map(pseudo) as T
  if (typeof messages !== "object" || messages === null) return messages
  return Object.fromEntries(Object.entries(messages).map(([name, value]) => [name, pseudo(value)])) as T
}

function stretched(text: string): string {
  const accented = [...text].map((letter) => ACCENTED[letter] ?? letter).join("")
  const longer = "~".repeat(Math.ceil(text.length * 0.4)).replaceAll(LONGEST_WORD, "$& ")
  return `[${accented}${longer}]`
}
