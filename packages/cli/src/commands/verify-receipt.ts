import { readFile } from "node:fs/promises";
import { CliError } from "../cli-error.ts";
import { parseDeployment, readConfig } from "../config.ts";
import type { Call } from "../context.ts";
import type { Line } from "../output.ts";
import { findChain } from "../pinned-assets.ts";
import { readDeployment } from "../read-deployment.ts";

const maxBytes = 100_000;

/** Checks a receipt with the pinned deployment file and nodes alone. The service is not called. */
export async function verifyReceiptCommand(
	{ io, output }: Call,
	{ file, rpc, deployment }: { file: string; rpc: readonly string[]; deployment?: string },
): Promise<void> {
	const { pins, rpc: known } =
		deployment === undefined
			? await readConfig(io)
			: {
					pins: parseDeployment(await readDeployment(deployment), deployment).pins,
					rpc: {},
				};
	const rpcUrls: Record<number, string> = { ...known };
	for (const text of rpc) {
		const [, chain, url] = /^([^=]+)=(.+)$/.exec(text) ?? [];
		if (chain === undefined || url === undefined || !/^https?:/i.test(url) || !URL.canParse(url)) {
			throw wrong("--rpc must be a chain and the address of a node, as in --rpc base=https://….");
		}
		rpcUrls[findChain(pins, chain).chainId] = url;
	}
	const receipt = await readReceipt(file);
	const { verifyReceipt } = await import("@geoswap/sdk/receipt");
	const verified = await verifyReceipt(receipt, { pins, rpcUrls });
	const { swapId, status, signer } = verified.receipt;
	await output.result(verified, [
		["receipt", `of ${swapId}, ${status}`],
		["signed by", `${signer}, which the deployment file names`],
		...verified.shown.map(({ fact, chainId, txHash, isFinal }): Line => {
			const where = txHash === undefined ? `chain ${chainId}` : `chain ${chainId}, ${txHash}`;
			return ["shown", `${fact} (${where}${isFinal ? "" : ", not final yet"})`];
		}),
		...verified.notShown.map((text): Line => ["not shown", text]),
	]);
}

async function readReceipt(file: string): Promise<unknown> {
	const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
		throw wrong(
			`${file} cannot be read: ${error.code === "ENOENT" ? "there is no such file" : error.message}.`,
		);
	});
	const parsed = text.length > maxBytes ? undefined : parseJson(text);
	if (parsed === undefined)
		throw wrong(`${file} is not a receipt. It must hold the JSON that the service returned.`);
	return parsed;
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

function wrong(message: string): CliError {
	return new CliError(message, { code: "USAGE", section: "receipts" });
}
