import type { KeyReference } from "@geoswap/keys/config/key-reference";
import type { EvmSigner, SolanaSigner } from "@geoswap/keys/signer";
import type { SolanaUse } from "./policy/judge-solana.ts";
import type { KeyConfig, SignerConfig } from "./signer-config.ts";
import type { SigningKey } from "./signing-key.ts";

/** Opens keys by their references. */
export type KeyOpener = {
	openEvm: (reference: KeyReference) => Promise<EvmSigner>;
	openSolana: (reference: KeyReference) => Promise<SolanaSigner>;
};

/** Opens all keys of the remote signer. Throws if a key is not the one that the deployment file names. */
export function openSigningKeys(
	config: SignerConfig,
	{ opener, nowMs }: { opener: KeyOpener; nowMs: () => number },
): Promise<SigningKey[]> {
	return Promise.all(
		Object.entries(config.keys).map(async ([name, key]): Promise<SigningKey> => {
			try {
				return await openKey(config, { name, key, opener, nowMs });
			} catch (cause) {
				throw new Error(`keys.${name}: ${(cause as Error).message}`, { cause });
			}
		}),
	);
}

async function openKey(
	{ deployment, attesterSets, finalitySeconds, chains, solana }: SignerConfig,
	{ name, key, opener, nowMs }: { name: string; key: KeyConfig; opener: KeyOpener; nowMs: () => number },
): Promise<SigningKey> {
	const { clients, reference } = key;
	if (key.use === "attester") {
		const signer = await opener.openEvm(reference);
		return { name, clients, use: "attester", signer, rules: { deployment, nowMs } };
	}
	if (key.use === "receipts")
		return { name, clients, use: "receipts", signer: await opener.openEvm(reference) };
	if (key.use === "relayer" || key.use === "treasurer") {
		const signer = await opener.openEvm(reference);
		const chain = deployment.chains.find(({ chainId }) => chainId === key.chainId);
		const limits = chains[key.chainId];
		if (!chain || !limits) throw new Error(`chain ${key.chainId} is not configured`);
		const { maxGas, maxFeePerGasWei, maxTransactionFeeWei, gasAccounts } = limits;
		const { address } = signer;
		const bounds = { maxGas, maxFeePerGasWei, maxTransactionFeeWei };
		const common = { key: name, address, chain, ...bounds };
		const { use, firstNonce } = key;
		if (use === "treasurer")
			return { name, clients, use, signer, rules: { ...common, gasAccounts }, firstNonce };
		const orders = { deployment, attesterSets, finalitySeconds, nowMs };
		return { name, clients, use, signer, rules: { ...common, ...orders }, firstNonce };
	}
	const signer = await opener.openSolana(reference);
	const on = deployment.solana;
	if (!on || !solana) throw new Error("Solana is not configured");
	const use: SolanaUse = key.use === "solana-operator" ? "operator" : "fee-payer";
	const named = use === "operator" ? [on.program.operator] : on.feePayers;
	if (!named.includes(signer.address))
		throw new Error(`its address is ${signer.address}, and the deployment file names ${named.join(", ")}`);
	const { maxUnits, maxMicroLamportsPerUnit } = solana;
	const { address } = signer;
	const orders = { deployment, attesterSets, finalitySeconds, nowMs };
	const rules = { key: name, use, address, deployment: on, maxUnits, maxMicroLamportsPerUnit, orders };
	return { name, clients, use: "solana", signer, rules };
}
