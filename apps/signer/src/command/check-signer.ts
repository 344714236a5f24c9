import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError } from "@geoswap/keys/config/config-error";
import { maskUrls } from "@geoswap/keys/config/mask-url";
import { refuseSolanaDevelopmentKeys } from "@geoswap/keys/development/refuse-solana-development-keys";
import { openSigners } from "@geoswap/keys/open-signers";
import { createKeyOpener } from "../create-key-opener.ts";
import { openSigningKeys } from "../open-signing-keys.ts";
import { connectEvmNode } from "../read/evm-node.ts";
import { connectSolanaNode, readGenesisHash } from "../read/solana-node.ts";
import { readCertificates } from "../server/read-certificates.ts";
import { plainVariables, type SignerConfig } from "../signer-config.ts";

/** The result of one check of one part. */
export type Finding = { part: string; result: "ok" | "warn" | "fail"; message: string };
type Found = Omit<Finding, "part">;

/** The period before its expiry in which a certificate should be renewed. */
const soonMs = 7 * 86_400_000;
const timeoutMs = 5_000;

const ok = (message: string): Found => ({ result: "ok", message });
/** A warning does not keep the signer from starting. */
const warn = (message: string): Found => ({ result: "warn", message });
const fail = (message: string): Found => ({ result: "fail", message });

/** Checks the signer's certificates, state, keys and nodes. */
export async function checkSigner(
	config: SignerConfig,
	{ isOffline }: { isOffline: boolean },
): Promise<Finding[]> {
	const secretNames = plainVariables(config);
	const signers = openSigners({ settings: config.backends, secretNames, nowMs: Date.now });
	const { solana } = config.deployment;
	try {
		const findings = await Promise.all([
			check("tls", async () => judgeExpiries(config, Date.now())),
			check("state", async () => expectFolder(config.state)),
			check("keys", async () => {
				const opener = createKeyOpener(config, signers);
				const keys = await openSigningKeys(config, { opener, nowMs: Date.now });
				return keys.map(({ name, signer }) => ok(`${name} is ${signer.address}`));
			}),
			solana
				? check("Solana keys", async () => {
						refuseSolanaDevelopmentKeys(solana);
						return ok("none of the deployment's keys is a development key");
					})
				: [],
			...(isOffline ? [] : checkNodes(config)),
		]);
		return findings.flat();
	} finally {
		await signers.close();
	}
}

function judgeExpiries({ tls }: SignerConfig, nowMs: number) {
	return readCertificates(tls).expiries.map(({ name, expiresAtMs }) => {
		const until = `the certificate ${name} is valid until ${new Date(expiresAtMs).toISOString()}`;
		if (expiresAtMs <= nowMs) return fail(`${until}; make a new one with geoswap-signer make-certificates`);
		return expiresAtMs - nowMs < soonMs ? warn(`${until}: renew it`) : ok(until);
	});
}

function expectFolder(state: string) {
	const folder = dirname(state);
	try {
		accessSync(folder, constants.W_OK);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		throw new ConfigError("state", `${folder} cannot be written to (${code}). Make it, for this user`);
	}
	return ok("its folder can be written to");
}

/** Checks the signer's nodes. It works without them, but then deposits on those chains cannot be proved to it. */
function checkNodes({ chains, solana, deployment }: SignerConfig): Promise<Finding[]>[] {
	const evm = Object.entries(chains).flatMap(([id, { rpcUrl }]) => {
		if (rpcUrl === undefined) return [];
		const { client } = connectEvmNode({ chainId: Number(id), rpcUrl });
		return [
			check(`chain ${id} endpoint`, async () => {
				const actual = await client.getChainId();
				return actual === Number(id) ? ok(`answers as chain ${id}`) : fail(`is chain ${actual}`);
			}),
		];
	});
	if (solana?.rpcUrl === undefined || !deployment.solana) return evm;
	const { genesisHash } = deployment.solana;
	const node = connectSolanaNode({ rpcUrl: solana.rpcUrl, deployment: deployment.solana });
	const endpoint = check("Solana endpoint", async () => {
		const actual = await readGenesisHash(node);
		return actual === genesisHash
			? ok("answers as the deployment's cluster")
			: fail(`is another cluster: its genesis hash is ${actual}, but the deployment has ${genesisHash}`);
	});
	return [...evm, endpoint];
}

/** Runs a check of a part. A check that throws or takes too long has failed. */
async function check(part: string, run: () => Promise<Found | Found[]>): Promise<Finding[]> {
	const over = new AbortController();
	try {
		const found = await Promise.race([run(), tooLate(over.signal)]);
		return [found].flat().map((one) => ({ part, ...one }));
	} catch (error) {
		// The finding already has the part's name.
		return [{ part, ...fail(describeProblem(error).replace(`${part}: `, "")) }];
	} finally {
		over.abort();
	}
}

async function tooLate(signal: AbortSignal): Promise<never> {
	await sleep(timeoutMs, undefined, { signal });
	throw new Error(`did not answer within ${timeoutMs / 1_000} s`);
}

/** Returns why something failed, without addresses and requests, which may contain a secret. */
export function describeProblem(error: unknown): string {
	if (error instanceof ConfigError) return maskUrls(error.message);
	const { shortMessage, message = String(error) } = error as { shortMessage?: string; message?: string };
	return maskUrls((shortMessage ?? message).split("\n")[0] ?? "");
}
