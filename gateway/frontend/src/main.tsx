import "./theme.css"
import { QueryClientProvider } from "@tanstack/react-query"
import { StrictMode } from "react"
import { I18nProvider } from "react-aria-components"
import { createRoot } from "react-dom/client"
import { queryClient } from "./api/query-client"
import { Toasts } from "./kit/toast"
import { Routes } from "./routes"
import { readSession } from "./session/session"
import { applyPreferences } from "./shell/preferences"

applyPreferences()
void readSession()

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <I18nProvider locale={document.documentElement.lang}>
      <QueryClientProvider client={queryClient}>
        <Routes />
        <Toasts />
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
)
