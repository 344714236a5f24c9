import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Deployment, formatDeployment } from "@geoswap/protocol";
import { signerMain } from "../environment/remote-signing.ts";
import { compose, imageEnvironment } from "./local-images.ts";
import { runCommand } from "./run-command.ts";

const project = "geoswap-signer";
const key = { use: "attester", reference: "keystore:/etc/geoswap/attester.json", signaturesPerHour: 100 };

export type SignerHost = {
	/** Runs a command of the image in the signer's network, with the files of a client. */
	geoswapdAs: (client: string, args: readonly string[]) => Promise<string>;
	/** Runs the image's own health check in the signer's container. */
	health: () => Promise<string>;
	stop: () => Promise<void>;
};

/** Starts deploy/compose/signer.yaml by docs/install.md, with an attester's key in a keystore. */
export async function startSignerHost({
	folder,
	port,
	deployment,
	clients,
}: {
	folder: string;
	port: number;
	deployment: Deployment;
	clients: readonly [string, ...string[]];
}): Promise<SignerHost> {
	const env = { GEOSWAP_DIR: folder, GEOSWAP_SIGNER_PUBLISH: `127.0.0.1:${port}` };
	const inFolder = (name: string) => join(folder, name);
	for (const name of ["config", "secrets", "state", "clients"]) mkdirSync(inFolder(name));
	const server = join(import.meta.dirname, "../../apps/server/src/main.ts");
	const geoswapd = (...args: string[]) => runCommand([process.execPath, server, ...args]);
	const names = clients.flatMap((name) => ["--client", name]);
	const authority = ["--out", inFolder("authority"), "--server", "signer"];
	await runCommand([process.execPath, signerMain, "make-certificates", ...authority, ...names]);
	for (const name of ["ca.pem", "server.pem", "server-key.pem"])
		await runCommand(["cp", inFolder(`authority/${name}`), inFolder(`secrets/${name}`)]);
	for (const name of ["ca.pem", ...clients.flatMap((client) => [`${client}.pem`, `${client}-key.pem`])])
		await runCommand(["cp", inFolder(`authority/${name}`), inFolder(`clients/${name}`)]);
	writeFileSync(inFolder("secrets/keystore-password"), `${crypto.randomUUID()}\n`);
	const keystore = ["--out", inFolder("config/attester.json"), "--curve", "secp256k1"];
	const password = ["--password-file", inFolder("secrets/keystore-password")];
	await geoswapd("signers", "make-keystore", ...keystore, ...password);
	const signer = {
		deployment: "deployment.json",
		state: "/var/lib/geoswap/signer.sqlite",
		host: "0.0.0.0",
		port: 9200,
		metrics: { port: 9201 },
		tls: {
			certificateFile: "/run/secrets/server.pem",
			keyFile: "/run/secrets/server-key.pem",
			clientCaFile: "/run/secrets/ca.pem",
		},
		keys: { attester: { ...key, clients: [clients[0]] } },
		backends: { keystore: { passwordFile: "/run/secrets/keystore-password" } },
	};
	writeFileSync(inFolder("config/signer.json"), JSON.stringify(signer));
	writeFileSync(inFolder("config/deployment.json"), formatDeployment(deployment));
	for (const client of clients)
		writeFileSync(inFolder(`clients/${client}.json`), clientConfig(client, deployment));
	writeFileSync(inFolder("clients/deployment.json"), formatDeployment(deployment));
	await runCommand(["chown", "-R", "65532:65532", folder]);
	const stop = async () => void (await compose({ file: "signer.yaml", project }, ["down"], env));
	await compose({ file: "signer.yaml", project }, ["up", "-d"], env);
	return {
		geoswapdAs: (client, args) =>
			runCommand([
				...["podman", "run", "--rm", "--no-healthcheck", "--network", `${project}_out`],
				...["-v", `${inFolder("clients")}:/etc/geoswap:ro`, imageEnvironment.GEOSWAP_IMAGE],
				...[...args, "--config", `/etc/geoswap/${client}.json`],
			]),
		health: () => runCommand(["podman", "exec", `${project}_signer_1`, "geoswap-signer", "health"]),
		stop,
	};
}

/** Returns the file of an attester whose key is with the signer. */
function clientConfig(client: string, { chains }: Deployment): string {
	return JSON.stringify({
		deployment: "deployment.json",
		chains: Object.fromEntries(chains.map(({ chainId }) => [chainId, { rpcUrl: "http://127.0.0.1:9" }])),
		port: 9100,
		keys: {
			attester: "remote:attester",
			remote: {
				url: "https://signer:9200",
				caFile: "/etc/geoswap/ca.pem",
				certificateFile: `/etc/geoswap/${client}.pem`,
				keyFile: `/etc/geoswap/${client}-key.pem`,
			},
		},
	});
}
