import { type ReactNode, useRef } from "react"
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components"
import { m } from "../messages"
import { type Asks, useAskOnce } from "./ask-once"
import { Button } from "./button"
import css from "./dialog.module.css"

export type DialogProps = {
  title: string
  /** Called by Escape and a click beside; without it the dialog stays until what it asks for is done. */
  onClose?: () => void
  /** `alertdialog` for what cannot be taken back. */
  role?: "dialog" | "alertdialog"
  wide?: boolean
  /** When Escape and a click beside ask first. */
  asks?: Asks
  children: ReactNode
}

export function Dialog({ title, onClose, role = "dialog", wide, asks = "never", children }: DialogProps) {
  const dialog = useRef<HTMLElement>(null)
  const [leave, question] = useAskOnce(dialog, () => onClose?.(), asks)
  return (
    <ModalOverlay
      className={css.overlay ?? ""}
      isOpen
      isDismissable={onClose !== undefined}
      isKeyboardDismissDisabled={onClose === undefined}
      onOpenChange={(open) => open || leave()}
    >
      <Modal className={`${css.modal} ${wide ? css.wide : ""}`}>
        <AriaDialog ref={dialog} className={css.dialog ?? ""} role={role}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
          {question}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}

type NoticeProps = Omit<DialogProps, "role" | "onClose" | "asks"> & {
  close: () => void
  /** Whether only its button closes it: what it says is said this once. */
  stays?: boolean
}

/** A dialog that says something, and asks for nothing. */
export function Notice({ close, stays, children, ...props }: NoticeProps) {
  return (
    <Dialog {...props} onClose={stays ? undefined : close}>
      {children}
      <DialogButtons>
        <Button look="primary" onPress={close}>
          {m.common.close}
        </Button>
      </DialogButtons>
    </Dialog>
  )
}

/** The buttons at the end of a dialog. */
export function DialogButtons({ children }: { children: ReactNode }) {
  return <div className={css.buttons}>{children}</div>
}
