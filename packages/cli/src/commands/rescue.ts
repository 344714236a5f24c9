import { addressOfWord } from "@geoswap/protocol";
import type { Credit, OpenedOrder, RescueCall, Whereabouts } from "@geoswap/sdk/rescue";
import type { Address, Hash, PublicClient } from "viem";
import type { LoadedConfig } from "../config.ts";
import { type Call, type Context, openConfig } from "../context.ts";
import { type ExitCode, exitCode } from "../exit-code.ts";
import { wholeTokens } from "../format-amount.ts";
import type { Line } from "../output.ts";
import { notSent, openPayer } from "../payer.ts";
import { isSameAddress, pinnedChains } from "../pinned-assets.ts";
import { readEndpoints } from "../read-endpoints.ts";
import { readSearch, rescueUsage, type Search } from "../rescue-search.ts";
import { shellCommand } from "../shell-command.ts";
import { type EvmNode, endpointOf, openEvmNode, withEvmNode } from "../with-evm-node.ts";

type Options = {
	id?: string;
	chain?: string;
	wallet?: string;
	rpc?: string[];
	days: string;
	send?: boolean;
};

/** An order's or a credit's money, and the call that sends it to the wallet if that is possible now. */
type Found = {
	what: "order" | "credit";
	token: Address;
	amount: bigint;
	call?: RescueCall;
	sent?: Hash;
	opened?: OpenedOrder;
	place: Whereabouts["place"] | "owed";
	takeableAt?: string;
};

/** Finds a wallet's money in the contracts without the service, and sends it back to the wallet on request. */
export async function rescueCommand(call: Call, options: Options): Promise<ExitCode> {
	const { config: stored, keys } = await openConfig(call);
	const config = { ...stored, rpc: { ...stored.rpc, ...readEndpoints(stored.pins, options.rpc ?? []) } };
	const search = await readSearch({ config, keys }, options);
	if (search.chain.kind === "solana") {
		const { rescueOnSolana } = await import("./rescue-on-solana.ts");
		return rescueOnSolana(call, { config, keys, search, isSent: options.send ?? false });
	}
	const found = await withEvmNode(config, search.chain, (client) => look(call, { config, search, client }));
	if (options.send) await send({ config, keys, call, search, found });
	await call.output.result(
		{
			chainId: search.chain.chainId,
			wallet: search.wallet,
			since: new Date(search.sinceMs).toISOString(),
			found: found.map(toJson),
		},
		describe(search, found, options),
	);
	const waits = found.some(({ place, sent }) => (place === "escrow" || place === "owed") && !sent);
	return options.send && waits ? exitCode.refused : exitCode.done;
}

async function look(
	{ output }: Call,
	{ config, search, client }: { config: LoadedConfig; search: Search; client: PublicClient },
): Promise<Found[]> {
	const { claimCall, findCredits, findOrders, locateOrder, refundCall } = await import("@geoswap/sdk/rescue");
	const { wallet, sinceMs, swap } = search;
	const chain = config.pins.chains.find(({ chainId }) => chainId === search.chain.chainId);
	if (!chain) throw rescueUsage(`${search.chain.name} is not an EVM chain of the deployment file.`);
	const onProgress = (left: bigint) => output.say(`reading ${search.chain.name}: ${left} blocks left`);
	const all = await findOrders(client, { chain, wallet, sinceMs, onProgress });
	const orders = swap ? all.filter(({ swapId }) => swapId === swap.id) : all;
	const found: Found[] = [];
	const destinations = new Map<bigint, EvmNode | undefined>();
	for (const opened of orders) {
		const { order, escrow } = opened;
		const { destinationChainId: to } = order;
		if (!destinations.has(to)) destinations.set(to, await openDestination(config, to));
		const ask = (destination?: PublicClient) => locateOrder(client, { order, destination });
		const state = (await destinations.get(to)?.(ask)) ?? (await ask());
		found.push({
			what: "order",
			opened,
			place: state.place,
			token: addressOfWord(chain.chainId, order.inputToken),
			amount: order.inputAmount,
			...(state.place === "escrow" && {
				takeableAt: new Date(Number(state.takeableAt) * 1_000).toISOString(),
				...(state.isTakeable && { call: refundCall({ order, escrow }) }),
			}),
		});
	}
	const tokens = found.map(({ token }) => token);
	const credits = await findCredits(client, { chain, wallet, tokens });
	return [...found, ...credits.map((credit) => owed(credit, claimCall(credit, wallet)))];
}

/** Opens the node of a destination, if it is an EVM chain with an endpoint. */
async function openDestination(config: LoadedConfig, destination: bigint): Promise<EvmNode | undefined> {
	const chain = pinnedChains(config.pins).find(
		({ chainId, kind }) => kind === "evm" && BigInt(chainId) === destination,
	);
	return chain && config.rpc[chain.chainId] !== undefined ? openEvmNode(config, chain) : undefined;
}

function owed({ token, amount }: Credit, call: RescueCall): Found {
	return { what: "credit", place: "owed", token, amount, call };
}

async function send({
	config,
	keys,
	call,
	search,
	found,
}: {
	config: LoadedConfig;
	keys: Context["keys"];
	call: Call;
	search: Search;
	found: Found[];
}): Promise<void> {
	const { sendRescueCall } = await import("@geoswap/sdk/rescue");
	const payer = await openPayer(keys, endpointOf(config, search.chain));
	for (const item of found) {
		if (!item.call) continue;
		call.output.say(`sending ${amountOf(search, item)} back to ${search.wallet}`);
		const rescue = item.call;
		item.sent = await withEvmNode(config, search.chain, (client) =>
			sendRescueCall(client, { payer, call: rescue }).catch((error: unknown) => {
				throw notSent(error, {
					payer: payer.account.address,
					code: "RESCUE_NOT_SENT",
					otherwise:
						"The transaction was not executed. It may have been sent already. Run the command again to find where the money is.",
				});
			}),
		);
	}
}

function describe(search: Search, found: readonly Found[], options: Options): Line[] {
	const { chain, wallet, sinceMs, swap } = search;
	const title: Line = ["wallet", `${wallet} on ${chain.name}`];
	if (found.length === 0) {
		const since = new Date(sinceMs).toISOString();
		return [
			title,
			[
				"found",
				swap
					? `no order of ${swap.id} was opened, so nothing was taken. An op can be opened until 15 minutes after its quote`
					: `no order of this wallet since ${since}, and nothing owed to it. Look further back with --days`,
			],
		];
	}
	const lines = found.flatMap((item): Line[] => [
		["", ""],
		[item.what, item.opened ? (item.opened.swapId ?? item.opened.orderId) : "owed by the escrow"],
		["input", amountOf(search, item)],
		["where", whereText(item)],
		...(item.sent ? [["sent", item.sent] satisfies Line] : []),
		...(item.call && !item.sent
			? [["to", item.call.to] satisfies Line, ["data", item.call.data] satisfies Line]
			: []),
	]);
	const canSend = found.some(({ call, sent }) => call && !sent);
	return [title, ...lines, ...(canSend ? [["", ""] satisfies Line, nextLine(search, options)] : [])];
}

function nextLine({ chain, wallet }: Search, { id }: Options): Line {
	const words = id === undefined ? ["--chain", String(chain.chainId), "--wallet", wallet] : [id];
	return { label: "next", command: shellCommand("geoswap", "rescue", ...words, "--send") };
}

const places: Record<Found["place"], string> = {
	delivered: "delivered: the recipient has the output, and the service the input",
	"delivered-not-released":
		"delivered: the recipient has the output. The input is still in the escrow, and is the service's",
	refunded: "refunded: the escrow has sent the input back to the wallet, or owes it (listed below)",
	escrow: "in the escrow",
	owed: "in the escrow, owed to the wallet because the token refused the payment",
	"never-opened": "not in the escrow, because the chain has dropped the deposit",
};

function whereText({ place, takeableAt, call, sent }: Found): string {
	if (sent) return "back in the wallet";
	if (place !== "escrow") return places[place];
	return call
		? "in the escrow. Anyone can now send it back to the wallet"
		: `in the escrow. Anyone can send it back to the wallet from ${takeableAt} on`;
}

function amountOf({ chain }: Search, { token, amount }: Found): string {
	const asset = chain.assets.find(({ address }) => isSameAddress(chain.chainId, address, token));
	return asset ? wholeTokens(amount, asset) : `${amount} smallest units of ${token}`;
}

function toJson({ what, opened, place, token, amount, takeableAt, call, sent }: Found) {
	return {
		what,
		place,
		token,
		amount,
		...(opened && {
			orderId: opened.orderId,
			swapId: opened.swapId,
			originTxHash: opened.transactionHash,
		}),
		...(takeableAt !== undefined && { takeableAt }),
		...(call && { transaction: call }),
		...(sent && { sentTxHash: sent }),
	};
}
