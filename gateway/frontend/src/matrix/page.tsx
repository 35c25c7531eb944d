import { useQuery } from "@tanstack/react-query"
import { Choice } from "../kit/choice"
import { Page } from "../kit/page"
import { Empty, NotYet } from "../kit/states"
import { m } from "../messages"
import { useAddress } from "./address"
import { Cells } from "./cells"
import { Exports } from "./exports"
import { Modules } from "./modules"
import css from "./page.module.css"
import { moduleMatrix } from "./queries"

/** The matrix of requirements and test cases: module by module, or cell by cell. */
export default function MatrixPage() {
  const [{ module, at }, change] = useAddress()
  const query = useQuery(moduleMatrix)
  const { data, error } = query
  const isEmpty = data && (data.rows.length === 0 || data.columns.length === 0)
  if (error || !data || isEmpty) {
    return (
      <Page title={m.matrix.title}>
        <NotYet query={query} />
        {isEmpty && <Empty title={m.matrix.nothing} hint={m.matrix.nothingHint} />}
      </Page>
    )
  }
  return (
    <Page title={m.matrix.title} fill actions={<Exports module={module} />}>
      <div className={css.matrix}>
        <Choice
          label={m.matrix.kinds}
          value={at ? "cells" : "modules"}
          options={[
            { value: "modules", label: m.matrix.byModule },
            { value: "cells", label: m.matrix.byCell },
          ]}
          onChange={(kind) =>
            change(
              kind === "cells"
                ? { at: "0,0" }
                : {
                    at: undefined,
                    zoom: undefined,
                    module: undefined,
                    columns: undefined,
                    show: undefined,
                    as: undefined,
                  },
            )
          }
        />
        {at ? <Cells modules={data} /> : <Modules matrix={data} />}
      </div>
    </Page>
  )
}
