import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { devnetMnemonic } from "@geoswap/contracts";
import { type Deployment, deploymentSchema, formatDeployment } from "@geoswap/protocol";
import { getBase58Decoder } from "@solana/kit";
import type { Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import type { DevnetKeys } from "./devnet-keys.ts";
import { type SolanaDevnetKeys, solanaAddressOfKey } from "./solana/development-solana-keys.ts";

export const defaultPort = 8545;

/** The endpoints of a running devnet. They belong to the process, so they are not in the deployment. */
export type RunningDevnet = {
	pid: number;
	chains: { chainId: number; rpcUrl: string }[];
	solana: SolanaEndpoint;
	/** The model of Circle's attestation service. */
	irisUrl: string;
};

export type SolanaEndpoint = { chainId: number; rpcUrl: string; wsUrl: string };

export type DevnetFiles = { deployment: string; keys: string; running: string };

/** Returns the default folder. A devnet on another port gets its own, so that two side by side do not mix. */
export function defaultDataDir(port: number): string {
	const folder = join(import.meta.dirname, "../../.devnet");
	return port === defaultPort ? folder : join(folder, `port-${port}`);
}

function devnetFiles(dataDir: string): DevnetFiles {
	return {
		deployment: join(dataDir, "deployment.json"),
		keys: join(dataDir, "keys.json"),
		running: join(dataDir, "running.json"),
	};
}

export function writeDevnetFiles(
	dataDir: string,
	{
		deployment,
		keys,
		solanaKeys,
		running,
	}: { deployment: Deployment; keys: DevnetKeys; solanaKeys: SolanaDevnetKeys; running: RunningDevnet },
): DevnetFiles {
	const files = devnetFiles(dataDir);
	mkdirSync(dataDir, { recursive: true });
	writeFileSync(files.deployment, formatDeployment(deployment));
	writeFileSync(files.keys, formatJson(describeKeys(keys, solanaKeys)));
	writeFileSync(files.running, formatJson(running));
	return files;
}

export function removeRunningFile(dataDir: string): void {
	rmSync(devnetFiles(dataDir).running, { force: true });
}

export function readRunningDevnet(dataDir: string): RunningDevnet & { deployment: Deployment } {
	const files = devnetFiles(dataDir);
	let running: RunningDevnet;
	try {
		running = JSON.parse(readFileSync(files.running, "utf8"));
		// A killed devnet leaves the file behind. Signal 0 only checks whether the process exists.
		process.kill(running.pid, 0);
	} catch {
		throw new Error(
			`no devnet is running from ${dataDir}; start one with \`pnpm devnet\`, or name its --port or --data-dir`,
		);
	}
	return {
		...running,
		deployment: deploymentSchema.parse(JSON.parse(readFileSync(files.deployment, "utf8"))),
	};
}

function describeKeys(keys: DevnetKeys, solana: SolanaDevnetKeys) {
	const describe = (privateKey: Hex) => ({ address: privateKeyToAddress(privateKey), privateKey });
	// Solana's own tools use this form: the 32 bytes of the secret, then those of the address.
	const describeSolana = (keypair: Uint8Array) => ({
		address: solanaAddressOfKey(keypair),
		keypair: getBase58Decoder().decode(keypair),
	});
	return {
		warning: "Development keys. They are public, so never send anything of value to their addresses.",
		mnemonic: devnetMnemonic,
		deployer: describe(keys.deployer),
		guardian: describe(keys.guardian),
		treasury: describe(keys.treasury),
		treasurer: describe(keys.treasurer),
		relayers: keys.relayers.map(describe),
		attesters: keys.attesters.map(describe),
		wallets: keys.wallets.map(describe),
		receipt: describe(keys.receipt),
		solana: {
			feePayers: solana.feePayers.map(describeSolana),
			vaultOwner: describeSolana(solana.vaultOwner),
			operator: describeSolana(solana.operator),
			wallets: solana.wallets.map(describeSolana),
			strangers: solana.strangers.map(describeSolana),
		},
	};
}

function formatJson(value: unknown): string {
	return `${JSON.stringify(value, null, "\t")}\n`;
}
