import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import { connectSolana } from "../../chain/solana/connect-solana.ts";
import { ConfigError } from "../../config/config-error.ts";
import { createKeyOpener } from "../../preflight/create-key-opener.ts";
import { openSigners } from "../../signer/open-signers.ts";
import { openSigningKeys } from "../../signer/remote/open-signing-keys.ts";
import { readCertificates } from "../../signer/remote/server/read-certificates.ts";
import { readSignerConfig, type SignerConfig } from "../../signer/remote/signer-config.ts";
import { checkEndpoint } from "./check-evm-chain.ts";
import { checkSolanaKeys } from "./check-secrets.ts";
import { checkSolanaEndpoint } from "./check-solana.ts";
import { check, type Finding, fail, ok, warn } from "./finding.ts";

/** The period before its expiry in which a certificate should be renewed. */
const soonMs = 7 * 86_400_000;
const nodeTimeoutMs = 2_000;

/** Checks the remote signer's own file, certificates, state, keys and endpoints. */
export async function checkSigner(path: string, { isOffline }: { isOffline: boolean }): Promise<Finding[]> {
	const config = readSignerConfig(path);
	const signers = openSigners({ settings: config.backends, nowMs: Date.now });
	try {
		const findings = await Promise.all([
			check("tls", async () => judgeExpiries(config, Date.now())),
			check("state", async () => expectFolder(config.state)),
			check("keys", async () => {
				const opener = createKeyOpener(config, signers);
				const keys = await openSigningKeys(config, { opener, nowMs: Date.now });
				return keys.map(({ name, signer }) => ok(`${name} is ${signer.address}`));
			}),
			checkSolanaKeys(config.deployment.solana),
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
		if (expiresAtMs <= nowMs) return fail(`${until}: make a new one with geoswapd signer make-certificates`);
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
	const evm = deployment.chains.flatMap((deployed) => {
		const { chainId } = deployed;
		const rpcUrl = chains[chainId]?.rpcUrl;
		if (rpcUrl === undefined) return [];
		const chain = connectChain({ chainId, rpcUrl, timeoutMs: nodeTimeoutMs, deployment: deployed });
		return [check(`chain ${chainId} endpoint`, () => checkEndpoint(chain))];
	});
	if (solana?.rpcUrl === undefined || !deployment.solana) return evm;
	const node = { rpcUrl: solana.rpcUrl, timeoutMs: nodeTimeoutMs, deployment: deployment.solana };
	return [...evm, check("Solana endpoint", () => checkSolanaEndpoint(connectSolana(node)))];
}
