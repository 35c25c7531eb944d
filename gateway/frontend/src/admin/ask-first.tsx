import { Ask } from "../kit/form"
import type { Change, UserRow } from "./change-user"
import { texts } from "./words"

export type Asked = { user: UserRow; change: Change }
const words = texts.users

/** Check whether a change shuts somebody out, or takes from the admin what only others can give back. */
export function needsQuestion(user: UserRow, change: Change, me: number): boolean {
  return change.is_active === false || (user.id === me && change.role !== undefined)
}

type Props = { asked: Asked; me: number; close: () => void; run: (asked: Asked) => void }

/** The question before such a change. */
export function AskFirst({ asked, me, close, run }: Props) {
  const isOff = asked.change.is_active === false
  const isSelf = asked.user.id === me
  return (
    <Ask
      role="alertdialog"
      title={isOff ? words.deactivateTitle(asked.user.full_name) : words.giveUpTitle}
      action={isOff ? words.deactivate : words.giveUp}
      look="danger"
      focus="cancel"
      close={close}
      run={() => {
        close()
        run(asked)
      }}
    >
      <p>{isOff ? (isSelf ? words.deactivateSelfHint : words.deactivateHint) : words.giveUpHint}</p>
    </Ask>
  )
}
