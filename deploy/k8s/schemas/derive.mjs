// Writes the schemas of custom resources from the types that npm packages bring; README.md says how to run it.
import { writeFileSync } from "node:fs";
import { createGenerator } from "ts-json-schema-generator";

const KINDS = {
  "cloudnative-pg/postgresql.cnpg.io/v1": ["Cluster", "Database", "ScheduledBackup"],
  "gateway-api/gateway.networking.k8s.io/v1": ["HTTPRoute"],
  "keda/keda.sh/v1alpha1": ["ScaledObject", "TriggerAuthentication"],
  "prometheus-operator/monitoring.coreos.com/v1": ["PodMonitor", "PrometheusRule", "ServiceMonitor"],
};
// What a person writes of an object's metadata; the rest, like the status, is the cluster's to write.
const text = { type: "string" };
const texts = { type: "object", additionalProperties: text };
const METADATA = {
  type: "object",
  properties: { name: text, namespace: text, labels: texts, annotations: texts },
  required: ["name"],
  additionalProperties: false,
};

const compilerOptions = { module: "esnext", moduleResolution: "bundler", target: "es2022" };
writeFileSync("tsconfig.json", JSON.stringify({ compilerOptions, files: [] }));

for (const [folder, kinds] of Object.entries(KINDS)) {
  for (const kind of kinds) {
    const schema = createGenerator({
      path: `node_modules/@kubernetes-models/${folder}/${kind}.d.ts`,
      tsconfig: "tsconfig.json",
      expose: "none",
      jsDoc: "none",
      topRef: false,
      skipTypeCheck: true,
      additionalProperties: false,
    }).createSchema(`I${kind}`);
    delete schema.properties.status;
    schema.properties.metadata = METADATA;
    schema.required = ["apiVersion", "kind", "metadata", "spec"];
    writeFileSync(`${kind}.json`, `${JSON.stringify(schema)}\n`);
  }
}
