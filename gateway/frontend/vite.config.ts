import { createHash } from "node:crypto"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import path from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import react from "@vitejs/plugin-react"
import { defineConfig, type Plugin } from "vite"

const OUT = path.resolve(import.meta.dirname, "../src/gateway/static")
const GATEWAY = process.env.TRACELINE_URL ?? "http://127.0.0.1:8000"
const SMALLEST_COMPRESSED = 1024

export default defineConfig({
  plugins: [react(), layerOrder(), compressed(), styleHashes()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
  },
  server: { proxy: Object.fromEntries(["/api", "/session", "/docs", "/livez"].map((prefix) => [prefix, GATEWAY])) },
})

/** Begin each style sheet with the order of the layers: a screen's may be read before that of the theme, which says it. */
function layerOrder(): Plugin {
  const theme = readFileSync(path.resolve(import.meta.dirname, "src/theme.css"), "utf8")
  const order = /^@layer [^;{]+;/.exec(theme)?.[0]
  if (!order) throw new Error("src/theme.css does not begin with the order of the layers any more.")
  return {
    name: "layer-order",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      for (const asset of Object.values(bundle)) {
        if (asset.type === "asset" && asset.fileName.endsWith(".css")) asset.source = `${order}${asset.source}`
      }
    },
  }
}

/** Write a .br and a .gz beside each file that is worth it, so that the gateway compresses nothing itself. */
function compressed(): Plugin {
  let out = ""
  return {
    name: "compressed",
    apply: "build",
    configResolved({ root, build }) {
      out = path.resolve(root, build.outDir)
    },
    closeBundle() {
      for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
        const file = path.join(entry.parentPath, entry.name)
        if (!entry.isFile() || !/\.(js|css|html|svg)$/.test(file)) continue
        const content = readFileSync(file)
        if (content.length < SMALLEST_COMPRESSED) continue
        const size = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
        writeFileSync(`${file}.br`, brotliCompressSync(content, { params: size }))
        writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }))
      }
    },
  }
}

/** Write the hashes of the style elements that react-aria adds: the content security policy names them one by one. */
function styleHashes(): Plugin {
  let out = ""
  return {
    name: "style-hashes",
    apply: "build",
    configResolved({ root, build }) {
      out = path.resolve(root, build.outDir)
    },
    closeBundle() {
      const packages = createRequire(import.meta.url)
      const folder = path.join(path.dirname(packages.resolve("react-aria/package.json")), "dist/private")
      const styles = ["interactions/usePress.mjs", "overlays/usePreventScroll.mjs"].map((file) =>
        styleIn(readFileSync(path.join(folder, file), "utf8"), file),
      )
      const hashes = styles.map((style) => `sha256-${createHash("sha256").update(style).digest("base64")}`)
      writeFileSync(path.join(out, "csp-hashes.json"), `${JSON.stringify(hashes)}\n`)
    },
  }
}

function styleIn(source: string, file: string): string {
  const found = /\.textContent = `([^`]*)`\.trim\(\)/.exec(source)
  if (!found?.[1]) throw new Error(`${file} of react-aria has no style element any more: look what it does now.`)
  return found[1].replace(/\$\{[^}]*PRESSABLE_ATTRIBUTE\}/, "data-react-aria-pressable").trim()
}
