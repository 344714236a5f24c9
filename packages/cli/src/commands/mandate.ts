import { chmod, writeFile } from "node:fs/promises";
import { fromSolanaWord, type MandateJson, mandateDigest, type SignedMandate } from "@geoswap/protocol";
import { getAddress, type Hex, isAddressEqual, recoverAddress } from "viem";
import { CliError } from "../cli-error.ts";
import { type Call, type Context, openConfig } from "../context.ts";
import { wholeTokens } from "../format-amount.ts";
import type { Line } from "../output.ts";
import { parseAmount } from "../parse-amount.ts";
import { notSent, openPayer } from "../payer.ts";
import { findAsset, findChain, isSameAddress, type PinnedChain, pinnedChains } from "../pinned-assets.ts";
import { readEndpoints } from "../read-endpoints.ts";
import { readEvmAccount } from "../read-keys.ts";
import { readMandate } from "../read-mandate.ts";
import { checkAddress } from "../wallet.ts";
import { endpointOf, withEvmNode } from "../with-evm-node.ts";

type Config = Context["config"];

/** Signs a mandate with the owner's key and writes it to a file for the agent. */
export async function createMandateCommand(
	call: Call,
	options: {
		chain: string;
		agent: string;
		cap: string[];
		period: string;
		expires: string;
		out: string;
		to?: string[];
		recipient?: string[];
		epoch?: string;
		rpc?: string[];
	},
): Promise<void> {
	const { config, keys } = await withEndpoints(call, options.rpc);
	const chain = evmChain(config, options.chain);
	const { pins } = config;
	const { createMandate } = await import("@geoswap/sdk");
	const account = await readEvmAccount(keys);
	const mandate = await refusingNonsense(async () =>
		createMandate({
			account,
			pins,
			chainId: chain.chainId,
			agent: getAddress(checkAddress("--agent", chain, options.agent)),
			inputs: options.cap.map((text) => readCap(config, chain, text)),
			periodSeconds: seconds("--period", options.period),
			expiresAt: new Date(Date.now() + seconds("--expires", options.expires) * 1_000),
			outputs: (options.to ?? []).map((text) => {
				const { chain: to, address } = findAsset(pins, "--to", text);
				return { chainId: to.chainId, token: address };
			}),
			recipients: (options.recipient ?? []).map((text) => readRecipient(config, text)),
			epoch: await epochOf(config, { chain, wallet: account.address, given: options.epoch }),
			signal: call.signal,
		}),
	);
	// The file moves nothing without the agent's key, but it shows what the wallet allows.
	await writeOwn(options.out, `${JSON.stringify(mandate, null, "\t")}\n`);
	await call.output.result({ file: options.out, mandate }, [
		["written", options.out],
		...mandateLines(config, mandate),
	]);
}

/** Shows what a mandate allows, and whether it is valid. */
export async function showMandateCommand(
	call: Call,
	{ file, rpc }: { file: string; rpc?: string[] },
): Promise<void> {
	const { config } = await withEndpoints(call, rpc);
	const { signed, json } = await readMandate(file);
	const problems = await problemsOf(config, signed);
	await call.output.result({ mandate: json, problems }, [
		...mandateLines(config, json),
		...(problems.length === 0
			? [["good", "as far as can be determined"] satisfies Line]
			: problems.map((problem): Line => ["not good", problem])),
	]);
}

/** Ends all mandates of the wallet on a chain, by a transaction. */
export async function revokeMandatesCommand(
	call: Call,
	{ chain: text, rpc }: { chain: string; rpc?: string[] },
): Promise<void> {
	const { config, keys } = await withEndpoints(call, rpc);
	const chain = evmChain(config, text);
	const wallet = await readEvmAccount(keys);
	const payer = await openPayer(keys, endpointOf(config, chain));
	const { revokeMandates } = await import("@geoswap/sdk/rescue");
	const { hash, epoch } = await withEvmNode(config, chain, async (client) => {
		call.output.say(`revoking all mandates of ${wallet.address}, paid for by ${payer.account.address}`);
		return revokeMandates(client, { wallet, payer, chainId: chain.chainId }).catch((error: unknown) => {
			throw notSent(error, {
				payer: payer.account.address,
				code: "NOT_REVOKED",
				otherwise: `The result of the revocation is unknown. Look at the epoch with geoswap mandate show, and run the command again. While the wallet is not delegated on ${chain.name}, they cannot be revoked, and no agent can use them; after its next delegation they are good again.`,
			});
		});
	});
	await call.output.result(
		{ chainId: chain.chainId, chain: chain.name, wallet: wallet.address, epoch, txHash: hash },
		[
			["wallet", `${wallet.address} on ${chain.name}`],
			["revoked", "all mandates that were signed so far"],
			["epoch", String(epoch)],
			["sent", hash],
		],
	);
}

/** Turns the SDK's error about a limit into a usage error. */
async function refusingNonsense<T>(make: () => Promise<T>): Promise<T> {
	try {
		return await make();
	} catch (error) {
		if (error instanceof RangeError) throw usage(`${error.message}.`);
		throw error;
	}
}

/** Writes a file that only its owner can read, even if the file existed before. */
async function writeOwn(path: string, text: string): Promise<void> {
	try {
		await writeFile(path, text, { mode: 0o600 });
		await chmod(path, 0o600);
	} catch {
		throw usage(`--out: ${path} cannot be written.`);
	}
}

async function withEndpoints(
	call: Call,
	rpc: readonly string[] = [],
): Promise<Pick<Context, "config" | "keys">> {
	const { config, keys } = await openConfig(call);
	return { config: { ...config, rpc: { ...config.rpc, ...readEndpoints(config.pins, rpc) } }, keys };
}

function evmChain({ pins }: Config, text: string): PinnedChain {
	const chain = findChain(pins, text);
	if (chain.kind === "evm") return chain;
	throw usage(`On ${chain.name} there are no mandates, because they are for EVM wallets.`);
}

/** Reads `<amount>:<token>`, such as 100:USDC. */
function readCap(
	{ pins }: Config,
	{ chainId }: PinnedChain,
	text: string,
): { token: string; maxAmount: bigint } {
	const [amount = "", token = "", ...others] = text.split(":");
	if (token === "" || others.length > 0)
		throw usage(`--cap must be <amount>:<token>, such as 100:USDC, not "${text}".`);
	const { address, decimals } = findAsset(pins, "--cap", `${chainId}:${token}`);
	return { token: address, maxAmount: parseAmount("--cap", amount, decimals) };
}

/** Reads `<chain>:<address>`. */
function readRecipient({ pins }: Config, text: string): { chainId: number; address: string } {
	const colon = text.lastIndexOf(":");
	if (colon <= 0) throw usage(`--recipient must be <chain>:<address>, not "${text}".`);
	const chain = findChain(pins, text.slice(0, colon));
	return { chainId: chain.chainId, address: checkAddress("--recipient", chain, text.slice(colon + 1)) };
}

/** The maximum duration. A date so far ahead can still be represented. */
const maxSeconds = 2 ** 32 - 1;
const units: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Reads a duration such as 12h or 30d. */
function seconds(option: string, text: string): number {
	const [, number, unit = ""] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? [];
	if (number === undefined)
		throw usage(`${option} must be a number with s, m, h or d, such as 12h or 30d, not "${text}".`);
	const length = Number(number) * (units[unit] ?? 0);
	if (length > maxSeconds) throw usage(`${option} is too long. Write at most 49710d.`);
	return length;
}

/** Returns the wallet's epoch from the option or from a node, else that of a wallet that never revoked its mandates. */
async function epochOf(
	config: Config,
	{ chain, wallet, given }: { chain: PinnedChain; wallet: Hex; given: string | undefined },
): Promise<number> {
	if (given !== undefined) {
		if (!/^(0|[1-9]\d{0,9})$/.test(given)) throw usage(`--epoch must be a whole number, not "${given}".`);
		return Number(given);
	}
	if (config.rpc[chain.chainId] === undefined) return 0;
	const { readMandateEpoch } = await import("@geoswap/sdk/rescue");
	return withEvmNode(config, chain, (client) => readMandateEpoch(client, wallet));
}

/** Returns why a mandate is not valid, as far as the pins and the configured node show. */
async function problemsOf(config: Config, signed: SignedMandate): Promise<string[]> {
	const { chainId, escrow, mandate, signature } = signed;
	const problems: string[] = [];
	const pinned = config.pins.chains.find((one) => one.chainId === chainId);
	const owner = await recoverAddress({ hash: mandateDigest(signed), signature }).catch(() => undefined);
	const isNormal = /1[bc]$/.test(signature);
	if (!isNormal || !owner || !isAddressEqual(owner, mandate.wallet))
		problems.push("its signature is not the wallet's");
	if (!pinned) return [...problems, `chain ${chainId} is not in the deployment file`];
	const isDesk =
		isAddressEqual(pinned.contracts.escrow, escrow) &&
		isAddressEqual(pinned.contracts.vault, mandate.originVault) &&
		pinned.attesterSet.hash.toLowerCase() === mandate.attesterSet;
	if (!isDesk) problems.push("it is for other contracts or attesters than the deployment file's");
	if (Number(mandate.expiry) * 1_000 <= Date.now()) problems.push("it has expired");
	if (config.rpc[chainId] === undefined) return problems;
	const { readMandateEpoch } = await import("@geoswap/sdk/rescue");
	const chain = findChain(config.pins, String(chainId));
	const epoch = await withEvmNode(config, chain, (client) => readMandateEpoch(client, mandate.wallet));
	if (mandate.epoch < epoch) problems.push(`it was revoked, because the wallet's epoch is ${epoch}`);
	if (mandate.epoch > epoch) {
		problems.push(`it is not valid yet; it will be after a revocation, since the wallet's epoch is ${epoch}`);
	}
	return problems;
}

function mandateLines({ pins }: Config, mandate: MandateJson): Line[] {
	const chains = pinnedChains(pins);
	const nameOf = (chainId: number) =>
		chains.find((one) => one.chainId === chainId)?.name ?? `chain ${chainId}`;
	const tokenOf = (chainId: number, address: string) =>
		chains
			.find((one) => one.chainId === chainId)
			?.assets.find((one) => isSameAddress(chainId, one.address, address));
	return [
		["wallet", `${mandate.wallet} on ${nameOf(mandate.chainId)}`],
		["agent", mandate.agent],
		...mandate.inputs.map(({ token, maxAmount }): Line => {
			const asset = tokenOf(mandate.chainId, token);
			const amount = asset ? wholeTokens(maxAmount, asset) : `${maxAmount} of ${token}`;
			return ["may give", `${amount} immediately, and again every ${mandate.period} s`];
		}),
		...(mandate.outputs.length === 0 ? [["may get", "any token"] satisfies Line] : []),
		...mandate.outputs.map(({ chainId, token }): Line => {
			const address = wordText(token);
			return ["may get", `${tokenOf(chainId, address)?.symbol ?? address} on ${nameOf(chainId)}`];
		}),
		["recipient", "the wallet itself, except on Solana"],
		...mandate.recipients.map((word): Line => ["recipient", `${wordText(word)}, on every chain`]),
		["until", new Date(mandate.expiry * 1_000).toISOString()],
		["epoch", String(mandate.epoch)],
	];
}

/** Returns the address in a word. The word does not contain its chain, so 12 leading zero bytes mean an EVM address. */
function wordText(word: string): string {
	return /^0x0{24}/.test(word) ? getAddress(`0x${word.slice(26)}`) : fromSolanaWord(word as Hex);
}

function usage(message: string): CliError {
	return new CliError(message, { code: "USAGE", section: "mandates" });
}
