import { useQuery, useQueryClient } from "@tanstack/react-query"
import { api } from "../api/client"
import { Ago } from "../kit/ago"
import { Button } from "../kit/button"
import { NotYet } from "../kit/states"
import { tell } from "../kit/toast"
import css from "./account.module.css"
import { texts } from "./words"

const KEY = ["sessions"]
const words = texts

/** Where one is signed in, and the end of each. */
export function OpenSessions() {
  const queries = useQueryClient()
  const read = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => api.get("/api/v1/auth/sessions", { params: { query: { limit: 100 } }, signal }),
  })
  async function end(work: Promise<unknown>) {
    await tell(work, words.ended)
    await queries.invalidateQueries({ queryKey: KEY })
  }
  return (
    <section>
      <h2>{words.sessions}</h2>
      <NotYet query={read} rows={2} />
      <ul className={css.list}>
        {read.data?.items.map(({ id, address, agent, last_seen_at, is_current }) => (
          <li key={id}>
            <span>
              <strong title={agent}>{browserOf(agent)}</strong> {address}{" "}
              <span className={css.quiet}>{is_current ? words.here : <Ago iso={last_seen_at} />}</span>
            </span>
            {!is_current && (
              <Button
                look="quiet"
                aria-label={words.endOne(address)}
                onPress={() =>
                  void end(api.delete("/api/v1/auth/sessions/{session_id}", { params: { path: { session_id: id } } }))
                }
              >
                {words.end}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {read.data && read.data.items.length > 1 && (
        <Button onPress={() => void end(api.delete("/api/v1/auth/sessions"))}>{words.endOthers}</Button>
      )}
    </section>
  )
}

/** Return what a program that is signed in is called by people, as far as it says so itself. */
export function browserOf(agent: string): string {
  const found = ["Edg", "Firefox", "Chrome", "Safari"].find((name) => agent.includes(`${name}/`))
  return found === "Edg" ? "Edge" : (found ?? (agent.split("/")[0] || words.unknownAgent))
}
