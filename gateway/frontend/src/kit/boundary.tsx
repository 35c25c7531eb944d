import { Component, type ReactNode } from "react"
import { m } from "../messages"
import { Button } from "./button"
import { Empty } from "./states"

type Props = {
  /** What is shown: when it changes, what went wrong before is forgotten. */
  of: string
  children: ReactNode
}

/** Keeps a defect of one screen from taking the whole page away. */
export class Boundary extends Component<Props, { failedAt?: string }> {
  override state: { failedAt?: string } = {}

  static getDerivedStateFromProps(props: Props, state: { failedAt?: string }) {
    return state.failedAt === undefined || state.failedAt === "" || state.failedAt === props.of
      ? null
      : { failedAt: undefined }
  }

  static getDerivedStateFromError() {
    return { failedAt: "" }
  }

  override componentDidCatch() {
    this.setState({ failedAt: this.props.of })
  }

  override render() {
    if (this.state.failedAt === undefined) return this.props.children
    return (
      <Empty title={m.common.broken} hint={m.common.brokenHint}>
        <Button onPress={() => location.reload()}>{m.common.reload}</Button>
      </Empty>
    )
  }
}
