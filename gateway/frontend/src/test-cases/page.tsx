import { TEST_CASES } from "../items/kinds"
import { ItemList } from "../items/list"

export default function TestCasesPage() {
  return <ItemList kind={TEST_CASES} />
}
