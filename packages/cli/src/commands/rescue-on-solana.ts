import { emptyAccountRentLamports, type ProgramDeployment, type SolanaAddress } from "@geoswap/protocol";
import type { SolanaOrder, SolanaRefund } from "@geoswap/sdk/solana-rescue";
import type { KeyPairSigner, Rpc, SolanaRpcApi } from "@solana/kit";
import { CliError } from "../cli-error.ts";
import type { LoadedConfig } from "../config.ts";
import type { Call, Context } from "../context.ts";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { wholeTokens } from "../format-amount.ts";
import type { Line } from "../output.ts";
import { findSolanaKey, openSolanaKey, parseSolanaKey } from "../read-keys.ts";
import { rescueUsage, type Search } from "../rescue-search.ts";
import { shellCommand } from "../shell-command.ts";
import { explainFailures, OtherChain } from "../with-evm-node.ts";

/** The variable with the key of a second wallet, which pays for a refund and gets nothing in return. */
const payerVariable = "GEOSWAP_SOLANA_PAYER_KEY";

type Found = { order: SolanaOrder; refund?: SolanaRefund; sent?: string; problem?: CliError };

/** Finds a wallet's inputs in the program without the service, and sends them back to the wallet on request. */
export async function rescueOnSolana(
	call: Call,
	{
		config,
		keys,
		search,
		isSent,
	}: { config: LoadedConfig; keys: Context["keys"]; search: Search; isSent: boolean },
): Promise<ExitCode> {
	const { chain, swap } = search;
	const wallet = search.wallet as string as SolanaAddress;
	const { solana } = config.pins;
	if (!solana) throw rescueUsage("Solana is not a chain of the deployment file.");
	const { program } = solana;
	if (swap) {
		throw rescueUsage(
			`An order on ${chain.name} does not name its swap. Pass --chain and --wallet without an id to list all orders of the wallet.`,
		);
	}
	const ask = <T>(asking: (rpc: Rpc<SolanaRpcApi>) => Promise<T>): Promise<T> =>
		explainFailures(config, chain, async (url) => {
			const { createSolanaRpc } = await import("@solana/kit");
			const rpc = createSolanaRpc(url) as Rpc<SolanaRpcApi>;
			if ((await rpc.getGenesisHash().send()) !== solana.genesisHash) {
				throw new OtherChain("is a node of another cluster");
			}
			return asking(rpc);
		});
	const found = await ask((rpc) => look(rpc, { program, wallet, chain }));
	if (isSent && found.some(({ refund }) => refund)) {
		const payer = await openPayer(keys, found);
		for (const item of found) {
			if (!item.refund) continue;
			call.output.say(`sending ${amountOf(search, item)} back to ${wallet}`);
			// An order that cannot be refunded must not block the others, because a third party can make such an order.
			await ask((rpc) => send(rpc, { program, payer, item })).catch((error: unknown) => {
				if (!(error instanceof CliError)) throw error;
				item.problem = error;
			});
		}
	}
	const [first] = isSent ? found.flatMap(({ problem }) => problem ?? []) : [];
	if (first && found.every(({ sent }) => !sent)) throw first;
	await call.output.result(
		{ chainId: chain.chainId, wallet, found: found.map(toJson) },
		describe(search, found),
	);
	if (first) return first.exit;
	const waits = found.some(({ order, sent }) => isWaiting(order) && !sent);
	return isSent && waits ? exitCode.refused : exitCode.done;
}

function isWaiting({ place, held }: SolanaOrder): boolean {
	return held > 0n && (place === "escrow" || place === "owed");
}

/** Reads the wallet's orders of listed tokens. Anyone can make orders of other tokens in a wallet's name. */
async function look(
	rpc: Rpc<SolanaRpcApi>,
	{ program, wallet, chain }: { program: ProgramDeployment; wallet: SolanaAddress; chain: Search["chain"] },
): Promise<Found[]> {
	const { findSolanaOrders, planSolanaRefund, RefundRefused } = await import("@geoswap/sdk/solana-rescue");
	const orders = await findSolanaOrders(rpc, { program, wallet });
	const found: Found[] = [];
	for (const order of orders) {
		if (!chain.assets.some(({ address }) => address === order.token)) continue;
		const item: Found = { order };
		found.push(item);
		if (!order.isTakeable) continue;
		try {
			item.refund = await planSolanaRefund(rpc, order);
		} catch (error) {
			if (!(error instanceof RefundRefused)) throw error;
			item.problem = notSent(error.message);
		}
	}
	return found;
}

/** Returns the key that pays: the second one if it is set, else the wallet's own. */
async function openPayer(keys: Context["keys"], found: readonly Found[]): Promise<KeyPairSigner> {
	const text = keys.env[payerVariable]?.trim();
	const bytes = text ? await parsePayerKey(text) : await findSolanaKey(keys);
	const costs = found.reduce((sum, { refund }) => sum + (refund?.lamports ?? 0n), 0n);
	if (!bytes) throw unpaid({ lamports: costs + emptyAccountRentLamports });
	return openSolanaKey(bytes);
}

async function parsePayerKey(text: string): Promise<Uint8Array> {
	return parseSolanaKey(text).catch(() => {
		throw new CliError(`${payerVariable} is not the key of a Solana wallet. Set it again.`, {
			code: "INVALID_KEY",
			next: "check_key",
			section: "keys",
		});
	});
}

async function send(
	rpc: Rpc<SolanaRpcApi>,
	{ program, payer, item }: { program: ProgramDeployment; payer: KeyPairSigner; item: Found },
): Promise<void> {
	const { planSolanaRefund, RefundRefused, sendSolanaRefund } = await import("@geoswap/sdk/solana-rescue");
	try {
		// An earlier refund may have created the wallet's account.
		const refund = await planSolanaRefund(rpc, item.order);
		item.refund = refund;
		const { value: has } = await rpc.getBalance(payer.address, { commitment: "confirmed" }).send();
		const left = has - refund.lamports;
		// The chain lets an account hold either nothing or at least this much.
		if (left !== 0n && left < emptyAccountRentLamports) {
			throw unpaid({ lamports: emptyAccountRentLamports - left, address: payer.address });
		}
		const { signature, isConfirmed } = await sendSolanaRefund(rpc, { program, payer, refund });
		if (!isConfirmed) throw unconfirmed(signature);
		item.sent = signature;
	} catch (error) {
		if (error instanceof CliError) throw error;
		throw notSent(
			error instanceof RefundRefused
				? error.message
				: "The transaction was not executed. It may have been sent already. Run the command again to find where the money is.",
		);
	}
}

function notSent(message: string): CliError {
	return new CliError(message, {
		code: "RESCUE_NOT_SENT",
		exit: exitCode.refused,
		next: "retry",
		retryable: true,
		section: "exit-codes",
	});
}

function unconfirmed(signature: string): CliError {
	return new CliError(
		`The refund ${signature} was sent, and the chain has not confirmed it yet. Run the command again to find where the money is.`,
		{
			code: "RESCUE_NOT_SENT",
			exit: exitCode.mayExecute,
			next: "retry",
			retryable: true,
			section: "exit-codes",
			mayExecute: true,
		},
	);
}

/** The error of a refund whose payer is missing or has too little. It contains the amount, and the payer if one is known. */
function unpaid({ lamports, address }: { lamports: bigint; address?: SolanaAddress }): CliError {
	return new CliError(
		address === undefined
			? `A payer needs ${lamports} lamports for the refunds, and there is no key that pays them. Set ${payerVariable} to the key of any Solana wallet that has them.`
			: `${address} lacks ${lamports} lamports for the refund. Send them to it, or set ${payerVariable} to the key of a wallet that has them.`,
		{
			code: "RESCUE_UNPAID",
			exit: exitCode.unpaid,
			next: "fund_wallet",
			retryable: true,
			section: "exit-codes",
			details: { lamports: String(lamports), ...(address !== undefined && { address }) },
		},
	);
}

function describe(search: Search, found: readonly Found[]): Line[] {
	const { chain, wallet } = search;
	const lines = found.flatMap((item): Line[] => [
		["", ""],
		["order", item.order.orderId],
		["input", amountOf(search, item)],
		["where", whereText(item)],
		...(item.sent ? [["sent", item.sent] satisfies Line] : []),
		...(item.problem ? [["problem", item.problem.message] satisfies Line] : []),
		...(item.refund && !item.sent ? [["costs", `${item.refund.lamports} lamports`] satisfies Line] : []),
	]);
	const canSend = found.some(({ refund, sent }) => refund && !sent);
	const words = ["--chain", String(chain.chainId), "--wallet", wallet, "--send"];
	const next: Line = { label: "next", command: shellCommand("geoswap", "rescue", ...words) };
	return [
		["wallet", `${wallet} on ${chain.name}`],
		...lines,
		...(canSend ? [["", ""] satisfies Line, next] : []),
	];
}

const places: Record<Exclude<SolanaOrder["place"], "escrow">, string> = {
	delivered: "delivered: the input is the service's",
	refunded: "refunded: the program has sent the input back to the wallet",
	owed: "in the program, and decided to be the wallet's. Anyone can now send it back to the wallet",
};

function whereText({ order, refund, sent }: Found): string {
	if (sent) return "back in the wallet";
	if (order.place !== "escrow") return places[order.place];
	return refund
		? "in the program. Anyone can now send it back to the wallet"
		: `in the program. Anyone can send it back to the wallet from ${timeOf(order)} on`;
}

function timeOf({ takeableAt }: SolanaOrder): string {
	return new Date(Number(takeableAt) * 1_000).toISOString();
}

function amountOf({ chain }: Search, { order }: Found): string {
	const amount = order.state === "prepared" || order.place === "owed" ? order.held : order.inputAmount;
	const asset = chain.assets.find(({ address }) => address === order.token);
	return asset ? wholeTokens(amount, asset) : `${amount} smallest units of ${order.token}`;
}

function toJson({ order, refund, sent, problem }: Found) {
	const { orderId, place, token, inputAmount, held } = order;
	return {
		what: "order",
		orderId,
		place,
		token,
		amount: inputAmount,
		held,
		...(place === "escrow" && { takeableAt: timeOf(order) }),
		...(refund && { lamports: refund.lamports }),
		...(sent !== undefined && { sentTxHash: sent }),
		...(problem && { problem: { code: problem.code, message: problem.message } }),
	};
}
