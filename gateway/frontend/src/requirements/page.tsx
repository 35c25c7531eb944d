import { REQUIREMENTS } from "../items/kinds"
import { ItemList } from "../items/list"

export default function RequirementsPage() {
  return <ItemList kind={REQUIREMENTS} />
}
