// An identity provider for tests: oidc-provider as it is, its own forms, its own keys, clients that register themselves.
// Beside it, at /test/, is what tests need to have people there and to see what an attacker or a fault would do.
import { createServer } from "node:http"
import { exportJWK, generateKeyPair, importJWK, SignJWT, UnsecuredJWT, decodeJwt } from "jose"
import { Provider } from "oidc-provider"

const port = Number(process.argv[2])
// Another site than that of 127.0.0.1, as browsers see it.
const issuer = `http://localhost:${port}`
const alg = "RS256"
const jwk = { ...(await exportJWK((await generateKeyPair(alg, { extractable: true })).privateKey)), kid: "one", alg, use: "sig" }
const foreign = (await generateKeyPair(alg)).privateKey
const people = new Map()
const secrets = new Map()
let tampered
let isAway = false

const provider = new Provider(issuer, {
  jwks: { keys: [jwk] },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people.get(id) }) }),
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
  scopes: ["openid", "email", "profile", "groups"],
  cookies: { keys: ["a secret of these tests"] },
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    backchannelLogout: { enabled: true },
  },
  // Its own way refuses to call programs of this machine.
  fetch: (url, { dispatcher: _, ...options }) => fetch(url, options),
})

// Providers take two secrets of a client while it is given another; this one knows one by itself.
const { compareClientSecret } = provider.Client.prototype
provider.Client.prototype.compareClientSecret = function (shown) {
  const known = secrets.get(this.clientId)
  return known ? known.includes(shown) : compareClientSecret.call(this, shown)
}

provider.use(async (context, next) => {
  await next()
  if (context.oidc?.route === "token" && tampered && context.body?.id_token) {
    const { claims = {}, key } = tampered
    tampered = undefined
    context.body = { ...context.body, id_token: await sign({ ...decodeJwt(context.body.id_token), ...claims }, { key }) }
  }
})

async function sign(claims, { typ = "JWT", key } = {}) {
  const given = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== null))
  if (key === "none") return new UnsecuredJWT(given).encode()
  // As if what everybody may read were a secret.
  if (key === "public") return new SignJWT(given).setProtectedHeader({ alg: "HS256", kid: jwk.kid }).sign(Buffer.from(jwk.n))
  const signing = key === "foreign" ? foreign : await importJWK(jwk, alg)
  return new SignJWT(given).setProtectedHeader({ alg, typ, kid: jwk.kid }).sign(signing)
}

async function control(request) {
  const [, , what, name] = request.url.split("/")
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = JSON.parse(Buffer.concat(chunks).toString() || "null")
  if (what === "people") people.set(name, body)
  else if (what === "secrets") secrets.set(name, body)
  else if (what === "tampered") tampered = body
  else if (what === "away") isAway = body
  else if (what === "signed") return { token: await sign(body.claims, body) }
  else throw new Error(`There is no ${what} here.`)
  return {}
}

const answer = provider.callback()
createServer((request, response) => {
  if (request.url.startsWith("/test/")) {
    control(request).then(
      (told) => response.end(JSON.stringify(told)),
      (error) => response.writeHead(400).end(String(error)),
    )
  } else if (isAway) request.socket.destroy()
  else answer(request, response)
}).listen(port, "127.0.0.1")
