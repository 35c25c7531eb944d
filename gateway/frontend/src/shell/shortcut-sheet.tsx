import { Notice } from "../kit/dialog"
import { currentShortcuts, Keys, useSingleKeys } from "../kit/shortcuts"
import { m } from "../messages"
import css from "./shell.module.css"

/** All keys that do something on this screen, and the switch for those without Ctrl or Cmd. */
export default function ShortcutSheet({ close }: { close: () => void }) {
  const [areOn, setOn] = useSingleKeys()
  const shortcuts = currentShortcuts()
  return (
    <Notice title={m.shell.shortcuts} close={close} wide>
      {(["here", "go", "everywhere"] as const).map((group) => {
        const these = shortcuts.filter((one) => (one.group ?? "here") === group)
        return these.length === 0 ? null : (
          <section key={group}>
            <h3>{m.shell.groups[group]}</h3>
            <dl className={css.sheet}>
              {these.map(({ keys, label }) => (
                <div key={keys}>
                  <dt>{label}</dt>
                  <dd>
                    <Keys keys={keys} />
                    <span className="visually-hidden">{keys}</span>
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        )
      })}
      <label>
        <input type="checkbox" checked={areOn} onChange={(event) => setOn(event.target.checked)} />{" "}
        {m.shell.shortcutsOn}
      </label>
    </Notice>
  )
}
