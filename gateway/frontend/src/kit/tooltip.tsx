import type { ReactElement } from "react"
import { Tooltip as AriaTooltip, Focusable, TooltipTrigger } from "react-aria-components"
import css from "./tooltip.module.css"

/** More about what is shown, on hover and focus; `children` can be focused. */
export function Tooltip({ text, children }: { text: string; children: ReactElement<Record<string, unknown>, string> }) {
  return (
    <TooltipTrigger delay={400} closeDelay={100}>
      <Focusable>{children}</Focusable>
      <AriaTooltip className={css.tooltip ?? ""} offset={6}>
        {text}
      </AriaTooltip>
    </TooltipTrigger>
  )
}
