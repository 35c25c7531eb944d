import { ItemDetail } from "../items/detail"
import { TEST_CASES } from "../items/kinds"

export default function TestCaseDetailPage() {
  return <ItemDetail kind={TEST_CASES} />
}
