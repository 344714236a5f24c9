import { readFile, stat } from "node:fs/promises";
import type { Deployment } from "@geoswap/protocol";
import type { Budget } from "@geoswap/sdk/budget";
import * as z from "zod";
import { CliError } from "./cli-error.ts";
import type { Context } from "./context.ts";
import { firstIssue } from "./first-issue.ts";
import { parseAmount } from "./parse-amount.ts";
import { type Asset, findAsset, isSameAddress, pinnedChains } from "./pinned-assets.ts";
import { checkAddress, findOwnAddress } from "./wallet.ts";

const assetText = z.string().min(1);
const amountText = z.string().min(1);
const budgetSchema = z.strictObject({
	spend: z
		.array(z.strictObject({ asset: assetText, perSwap: amountText, perDay: amountText }))
		.min(1)
		.max(100),
	routes: z
		.array(z.strictObject({ from: assetText, to: assetText, worstPrice: amountText }))
		.min(1)
		.max(1_000),
	recipients: z.array(z.string().min(1)).min(1).max(100),
});

/** The decimals of a price that are read. Amounts are exact; a price is a bound that a user chose. */
const priceDecimals = 18;
/** The bits of a file's mode that let others than its owner write to it. */
const writableByOthers = 0o022;

/** Reads a budget file. Names are resolved by the pins, and `self` stands for the wallets of the keys. */
export async function readBudget(
	path: string,
	{ pins, keys }: { pins: Deployment; keys: Context["keys"] },
): Promise<Budget> {
	const file = budgetSchema.safeParse(await readJson(path));
	if (!file.success) throw invalid(path, firstIssue(file.error));
	const { spend, routes, recipients } = file.data;
	try {
		const limits = spend.map(({ asset: text, perSwap, perDay }) => {
			const asset = findAsset(pins, "asset", text);
			return {
				...refOf(asset),
				perSwap: parseAmount("perSwap", perSwap, asset.decimals),
				perDay: parseAmount("perDay", perDay, asset.decimals),
			};
		});
		const twice = limits.find((one, i) => limits.findIndex((other) => isSameRef(one, other)) < i);
		if (twice) throw invalid(path, `${twice.token} on chain ${twice.chainId} is in spend twice`);
		const pairs = routes.map(({ from: fromText, to: toText, worstPrice }) => {
			const from = findAsset(pins, "from", fromText);
			const to = findAsset(pins, "to", toText);
			if (!limits.some((one) => isSameRef(one, refOf(from))))
				throw invalid(path, `${fromText} has a route, but is not in spend`);
			return { from: refOf(from), to: refOf(to), worstPrice: priceOf(worstPrice, { from, to }) };
		});
		const again = pairs.find(
			(one, i) =>
				pairs.findIndex((other) => isSameRef(one.from, other.from) && isSameRef(one.to, other.to)) < i,
		);
		if (again) throw invalid(path, `the route from ${again.from.token} to ${again.to.token} is there twice`);
		return {
			spend: limits,
			routes: pairs,
			recipients: await readRecipients(path, recipients, { pins, keys }),
		};
	} catch (error) {
		if (!(error instanceof CliError) || error.code === "INVALID_BUDGET") throw error;
		throw invalid(path, error.message.replace(/\.$/, ""));
	}
}

async function readRecipients(
	path: string,
	texts: readonly string[],
	{ pins, keys }: { pins: Deployment; keys: Context["keys"] },
): Promise<string[]> {
	const chains = pinnedChains(pins);
	const found = await Promise.all(
		texts.map(async (text) => {
			if (text !== "self") {
				const chain = chains.find((one) => isAddressOn(one, text));
				if (chain) return [text];
				throw invalid(path, `the recipient ${text} is not an address on any chain of the deployment file`);
			}
			const kinds = [...new Set(chains.map(({ kind }) => kind))];
			const own = await Promise.all(kinds.map((kind) => findOwnAddress(keys, kind)));
			return own.filter((address) => address !== undefined);
		}),
	);
	return found.flat();
}

function isAddressOn(chain: Parameters<typeof checkAddress>[1], text: string): boolean {
	try {
		checkAddress("recipients", chain, text);
		return true;
	} catch {
		return false;
	}
}

/** Converts a price in whole tokens to a ratio of smallest units. */
function priceOf(text: string, { from, to }: { from: Asset; to: Asset }): { output: bigint; input: bigint } {
	const price = parseAmount("worstPrice", text, priceDecimals);
	return {
		output: price * 10n ** BigInt(to.decimals),
		input: 10n ** BigInt(priceDecimals + from.decimals),
	};
}

function refOf({ chain, address }: Asset): { chainId: number; token: string } {
	return { chainId: chain.chainId, token: address };
}

type Ref = ReturnType<typeof refOf>;

function isSameRef(one: Ref, other: Ref): boolean {
	return one.chainId === other.chainId && isSameAddress(one.chainId, one.token, other.token);
}

async function readJson(path: string): Promise<unknown> {
	let text: string;
	try {
		const { mode } = await stat(path);
		if (process.platform !== "win32" && (mode & writableByOthers) !== 0)
			throw invalid(path, "others than its owner may write to it; run chmod go-w");
		text = await readFile(path, "utf8");
	} catch (error) {
		if (error instanceof CliError) throw error;
		throw invalid(path, (error as Error).message);
	}
	try {
		return JSON.parse(text);
	} catch {
		throw invalid(path, "it is not JSON");
	}
}

function invalid(path: string, why: string): CliError {
	return new CliError(`${path} is not a budget: ${why}. The docs of MCP have an example.`, {
		code: "INVALID_BUDGET",
		section: "mcp",
	});
}
