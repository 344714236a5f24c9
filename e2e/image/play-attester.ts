import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { imageEnvironment } from "./local-images.ts";
import { runCommand } from "./run-command.ts";

const path = join(import.meta.dirname, "../../deploy/kubernetes/base/attester.yaml");

/**
 * Starts the attester's manifest with podman in this machine's network. podman 4.3 has no volumes of secrets, publishes
 * no ports there, probes with a program that the image does not have, and starts a check again that has passed. So the
 * secret is a folder here, ports and probes are left out, nothing is restarted, and all else is as in the manifest.
 */
export async function playAttester({
	folder,
	config,
	key,
}: {
	folder: string;
	/** The files of the ConfigMap, by name. */
	config: Record<string, string>;
	key: string;
}): Promise<{ health: () => Promise<string>; stop: () => Promise<void> }> {
	const secrets = join(folder, "secrets");
	mkdirSync(secrets);
	writeFileSync(join(secrets, "attester-key"), `${key}\n`);
	await runCommand(["chown", "-R", "65532:65532", secrets]);
	const [deployment = ""] = readFileSync(path, "utf8").split("\n---\n");
	const secret = /secret:\n +secretName: geoswap-attester\n +defaultMode: 0440/;
	if (!secret.test(deployment)) throw new Error(`${path} has no volume geoswap-attester of the known form`);
	const ports = /^ {10}ports:\n(?: {12}.*\n)+(?: {10}\w+Probe:\n(?: {12}.*\n)+)+/m;
	if (!ports.test(deployment)) throw new Error(`${path} has no ports and probes of the known form`);
	const manifest = deployment
		.replace(ports, "")
		.replace("      serviceAccountName:", "      restartPolicy: Never\n$&")
		.replaceAll("image: geoswap", `image: ${imageEnvironment.GEOSWAP_IMAGE}`)
		.replace(secret, `hostPath: { path: ${secrets}, type: Directory }`);
	const metadata = { name: "geoswap-attester-config" };
	const configMap = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data: config });
	const file = join(folder, "attester.yaml");
	writeFileSync(file, `${configMap}\n---\n${manifest}\n`);
	await runCommand(["podman", "kube", "play", "--network", "host", file]);
	const names = await runCommand(["podman", "ps", "--all", "--format", "{{.Names}}"]);
	const name = names.split("\n").find((one) => /^attester-pod.*-attester$/.test(one));
	if (!name) throw new Error(`podman made no container of the attester: ${names}`);
	return {
		health: () => runCommand(["podman", "exec", name, "geoswapd", "health", "--ready"]),
		stop: async () => void (await runCommand(["podman", "kube", "down", file])),
	};
}
