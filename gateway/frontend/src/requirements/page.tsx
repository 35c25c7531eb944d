import { useQuery } from "@tanstack/react-query"
import { api } from "../api/client"
import { unwrap } from "../api/problem"
import { Page } from "../kit/page"
import { Failure, Skeleton } from "../kit/states"
import { m } from "../messages"

export default function RequirementsPage() {
  const { data, error, refetch } = useQuery({
    queryKey: ["requirements"],
    queryFn: ({ signal }) => unwrap(api.GET("/api/v1/requirements", { signal })),
  })
  return (
    <Page title={m.shell.requirements}>
      {error ? <Failure error={error} retry={() => void refetch()} /> : null}
      {data ? (
        <ul>
          {data.items.map((one) => (
            <li key={one.id}>{one.title}</li>
          ))}
        </ul>
      ) : (
        !error && <Skeleton />
      )}
    </Page>
  )
}
