import type { ReactNode } from "react"
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components"
import css from "./dialog.module.css"

export type DialogProps = {
  title: string
  isOpen: boolean
  /** Called by Escape and a click beside; without it the dialog stays until what it asks for is done. */
  onClose?: () => void
  /** `alertdialog` for what cannot be taken back. */
  role?: "dialog" | "alertdialog"
  wide?: boolean
  children: ReactNode
}

export function Dialog({ title, isOpen, onClose, role = "dialog", wide, children }: DialogProps) {
  return (
    <ModalOverlay
      className={css.overlay ?? ""}
      isOpen={isOpen}
      isDismissable={onClose !== undefined}
      isKeyboardDismissDisabled={onClose === undefined}
      onOpenChange={(open) => open || onClose?.()}
    >
      <Modal className={`${css.modal} ${wide ? css.wide : ""}`}>
        <AriaDialog className={css.dialog ?? ""} role={role}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}

/** The buttons at the end of a dialog. */
export function DialogButtons({ children }: { children: ReactNode }) {
  return <div className={css.buttons}>{children}</div>
}
