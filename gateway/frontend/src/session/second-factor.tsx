import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { api } from "../api/client"
import { ApiProblem } from "../api/problem"
import { Button } from "../kit/button"
import { Copied } from "../kit/copied"
import { Notice } from "../kit/dialog"
import { Field } from "../kit/field"
import { Ask, useFields } from "../kit/form"
import { NotYet } from "../kit/states"
import { toast } from "../kit/toast"
import { m } from "../messages"
import css from "./account.module.css"
import { renew } from "./session"
import { texts } from "./words"

const KEY = ["second-factor"]
const words = texts.factor
type Step = "begin" | "renew" | "remove" | { secret: string; qr: string } | { codes: string[] }

/** Whether a code is needed beside the password, and how that begins and ends. */
export function SecondFactor({ onActive }: { onActive?: () => void }) {
  const queries = useQueryClient()
  const [step, setStep] = useState<Step>()
  const read = useQuery({ queryKey: KEY, queryFn: ({ signal }) => api.get("/api/v1/auth/second-factor", { signal }) })
  const close = () => setStep(undefined)
  async function finish(next?: Step) {
    setStep(next)
    // A token from before may be good for this alone.
    await renew()
    await queries.invalidateQueries({ queryKey: KEY })
  }
  return (
    <section>
      <h2>{words.title}</h2>
      <NotYet query={read} rows={1} />
      <p className={css.quiet}>{read.data?.is_active ? words.on(read.data.recovery_codes_left) : words.hint}</p>
      {read.data &&
        (read.data.is_active ? (
          <p>
            <Button onPress={() => setStep("renew")}>{words.renew}</Button>{" "}
            <Button onPress={() => setStep("remove")}>{words.remove}</Button>
          </p>
        ) : (
          <Button onPress={() => setStep("begin")}>{words.begin}</Button>
        ))}
      {step === "begin" && (
        <Prove
          title={words.begin}
          action={words.next}
          close={close}
          run={async ({ password }) => setStep(await api.post("/api/v1/auth/second-factor", { body: { password } }))}
        />
      )}
      {step === "renew" && (
        <Prove
          title={words.renew}
          action={words.renew}
          hasCode
          close={close}
          run={async (body) => {
            const { recovery_codes } = await api.post("/api/v1/auth/second-factor/recovery-codes", { body })
            await finish({ codes: recovery_codes })
          }}
        />
      )}
      {step === "remove" && (
        <Prove
          title={words.remove}
          action={words.remove}
          hasCode
          close={close}
          run={async (body) => {
            await api.post("/api/v1/auth/second-factor/remove", { body })
            toast(words.removed)
            await finish()
          }}
        />
      )}
      {typeof step === "object" && "qr" in step && (
        <Confirm {...step} close={close} onCodes={(codes) => void finish({ codes })} />
      )}
      {typeof step === "object" && "codes" in step && (
        <Notice
          title={words.codes}
          stays
          close={() => {
            close()
            onActive?.()
          }}
        >
          <p>{words.codesHint}</p>
          <p className={css.codes}>
            <Copied text={step.codes.join("\n")} />
          </p>
        </Notice>
      )}
    </section>
  )
}

type Proof = { password: string; code: string }
type ProveProps = {
  title: string
  action: string
  hasCode?: boolean
  close: () => void
  run: (proof: Proof) => Promise<void>
}

/** A dialog that asks for the password once more, and for a code where there is a second factor already. */
function Prove({ title, action, hasCode, close, run }: ProveProps) {
  const { values, of } = useFields({ password: "", code: "" })
  const prove = () =>
    run(values).catch((error) => {
      if (!(error instanceof ApiProblem)) throw error
      const atPassword = error.at("invalid_credentials", "/password", texts.wrongPassword)
      throw atPassword.code.startsWith("second_factor")
        ? error.at(error.code, "/code", m.session.wrongCode)
        : atPassword
    })
  return (
    <Ask title={title} action={action} run={prove} close={close}>
      {(errors) => (
        <>
          <Field
            label={texts.currentPassword}
            type="password"
            autoComplete="current-password"
            autoFocus
            isRequired
            {...of("password", errors)}
          />
          {hasCode && <CodeField {...of("code", errors)} />}
        </>
      )}
    </Ask>
  )
}

type ConfirmProps = { secret: string; qr: string; close: () => void; onCodes: (codes: string[]) => void }

/** A dialog that shows the secret, and asks for a code of it. */
function Confirm({ secret, qr, close, onCodes }: ConfirmProps) {
  const { values, of } = useFields({ code: "" })
  async function confirm() {
    onCodes((await api.post("/api/v1/auth/second-factor/confirm", { body: values })).recovery_codes)
  }
  return (
    <Ask title={words.title} action={words.confirm} run={confirm} close={close}>
      {(errors) => (
        <>
          <p>{words.scan}</p>
          <img alt={words.qr} width={200} height={200} src={qr} />
          <p className={css.secret}>
            <Copied text={secret} />
          </p>
          <CodeField {...of("code", errors)} />
        </>
      )}
    </Ask>
  )
}

type CodeProps = { value: string; error: string | undefined; onChange: (value: string) => void }

function CodeField(props: CodeProps) {
  return <Field label={words.code} autoComplete="one-time-code" isRequired minLength={6} maxLength={32} {...props} />
}
