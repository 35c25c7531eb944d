import { Autocomplete, Header, Input, Menu, MenuItem, MenuSection, TextField } from "react-aria-components"
import css from "./command-list.module.css"

export type Command = { id: string; label: string; detail?: string; run: () => void }
export type CommandGroup = { title: string; commands: Command[] }

type Props = {
  label: string
  placeholder: string
  text: string
  onText: (text: string) => void
  groups: CommandGroup[]
  /** What is said when there is nothing to choose. */
  nothing: string
}

/** A field and what fits its text, chosen by the arrows and Enter while the field keeps the focus. */
export function CommandList({ label, placeholder, text, onText, groups, nothing }: Props) {
  const shown = groups.filter(({ commands }) => commands.length > 0)
  const run = (id: unknown) =>
    shown
      .flatMap(({ commands }) => commands)
      .find((one) => one.id === id)
      ?.run()
  return (
    <Autocomplete inputValue={text} onInputChange={onText}>
      <TextField aria-label={label} autoFocus>
        <Input className={css.input ?? ""} placeholder={placeholder} />
      </TextField>
      <Menu className={css.list ?? ""} aria-label={label} onAction={run} renderEmptyState={() => <p>{nothing}</p>}>
        {shown.map(({ title, commands }) => (
          <MenuSection key={title} id={title}>
            <Header className={css.title}>{title}</Header>
            {commands.map((command) => (
              <MenuItem key={command.id} id={command.id} textValue={command.label} className={css.item ?? ""}>
                <span className={css.text}>{command.label}</span>
                {command.detail && <span className={css.detail}>{command.detail}</span>}
              </MenuItem>
            ))}
          </MenuSection>
        ))}
      </Menu>
    </Autocomplete>
  )
}
