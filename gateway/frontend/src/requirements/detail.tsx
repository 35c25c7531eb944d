import { ItemDetail } from "../items/detail"
import { REQUIREMENTS } from "../items/kinds"

export default function RequirementDetailPage() {
  return <ItemDetail kind={REQUIREMENTS} />
}
