import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identityKeyOf, restateBinary } from "@geoswap/devnet";
import { localBalancer } from "./local-balancer.ts";
import type { Machine } from "./network/machine.ts";
import { isAnswered, type Part, processOn } from "./part.ts";

const publishedFile = join(import.meta.dirname, "../../deploy/restate-cluster.toml");

/** Returns a cluster of engine nodes with the published configuration. */
export function engineParts({
	machines,
	folder,
	logFile,
}: {
	machines: readonly Machine[];
	folder: string;
	logFile: (name: string) => string;
}): { engine: Part[]; identityKey: string } {
	const keyFile = join(folder, "identity.pem");
	const { privateKey, publicKey } = generateKeyPairSync("ed25519");
	writeFileSync(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
	const engine = machines.map((machine, i): Part => {
		const { name, address } = machine;
		const own = engineFolder(folder, name);
		mkdirSync(own, { recursive: true });
		const configFile = join(folder, `${name}.toml`);
		const published = readFileSync(publishedFile, "utf8");
		writeFileSync(
			configFile,
			published
				.replaceAll("/etc/geoswap-restate/identity.pem", keyFile)
				.replaceAll("/var/lib/geoswap-restate", own),
		);
		const isWell = async () =>
			(await isAnswered(`http://${address}:9070/health`)) &&
			(await isAnswered(`http://${address}:8080/restate/health`));
		return {
			machine,
			processes: [
				localBalancer(machine, { logFile }),
				processOn(machine, {
					name: "restate",
					program: restateBinary(),
					args: ["--no-logo", "--config-file", configFile],
					env: {
						RESTATE_NODE_NAME: name,
						RESTATE_ADVERTISED_ADDRESS: `http://${name}:5122`,
						RESTATE_AUTO_PROVISION: String(i === 0),
					},
					logFile: logFile(name),
					isReady: isWell,
				}),
			],
			isWell,
		};
	});
	return { engine, identityKey: identityKeyOf(publicKey) };
}

/** Returns the folder with all of a node's data. */
export function engineFolder(folder: string, name: string): string {
	return join(folder, name);
}
