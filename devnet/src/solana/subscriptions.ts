import type { Address } from "@solana/kit";
import { accountJson } from "./account-json.ts";
import { invalidParams } from "./rpc-error.ts";
import { addressAt, commitmentOf, configAt, inContext, type Params, signatureOf } from "./rpc-params.ts";
import type { Block, Commitment, LandedTransaction, SolanaChain } from "./solana-chain.ts";

type Notify = (result: unknown) => void;

/** Checks one subscription in a slot. Returns true if it will never notify again. */
type Watch = () => boolean;

/** Manages the subscriptions of one connection. */
export function subscriptions(chain: SolanaChain, send: (message: object) => void) {
	const watches = new Map<number, Watch>();

	const make: Record<string, (params: Params, notify: Notify) => Watch> = {
		slotSubscribe: (_, notify) => {
			let last = chain.head("processed").slot;
			return () => {
				const { slot, parentSlot } = chain.head("processed");
				if (slot > last) notify({ parent: parentSlot, root: chain.head("finalized").slot, slot });
				last = slot;
				return false;
			};
		},
		signatureSubscribe: (params, notify) => {
			const signature = signatureOf(params[0]);
			const commitment = commitmentOf(configAt(params, 1));
			return () => {
				const landed = chain.transaction(signature);
				const head = chain.head(commitment);
				if (!landed || landed.block.slot > head.slot) return false;
				notify(inContext(head, { err: landed.error }));
				return true;
			};
		},
		accountSubscribe: (params, notify) => {
			const address = addressAt(params, 0);
			const config = configAt(params, 1);
			const read = (one: Address) => chain.accountAt(one, commitmentOf(config));
			return onBlocks(chain, commitmentOf(config), (block) => {
				if (!block.changed.has(address)) return;
				notify(inContext(block, accountJson(read(address), config, read)));
			});
		},
		logsSubscribe: (params, notify) => {
			const filter = params[0];
			return onBlocks(chain, commitmentOf(configAt(params, 1)), (block) => {
				for (const landed of block.transactions) {
					if (!isMentioned(landed, filter)) continue;
					const { wire, error, meta } = landed;
					notify(inContext(block, { signature: wire.signature, err: error, logs: meta.logs() }));
				}
			});
		},
	};

	const check = (id: number, watch: Watch) => {
		if (watch()) watches.delete(id);
	};

	return {
		/** Answers a subscribe or unsubscribe call. Returns undefined for other methods. */
		call: (method: string, params: Params): number | true | undefined => {
			if (/^(slot|signature|account|logs)Unsubscribe$/.test(method)) {
				if (!watches.delete(Number(params[0]))) throw invalidParams("Invalid subscription id.");
				return true;
			}
			const subscribe = Object.hasOwn(make, method) ? make[method] : undefined;
			if (!subscribe) return undefined;
			nextId += 1;
			const id = nextId;
			const name = method.replace("Subscribe", "Notification");
			const watch = subscribe(params, (result) => {
				send({ jsonrpc: "2.0", method: name, params: { result, subscription: id } });
			});
			watches.set(id, watch);
			// A condition that already holds is notified immediately, but after the response.
			setImmediate(() => watches.get(id) === watch && check(id, watch));
			return id;
		},
		onSlot: () => {
			for (const [id, watch] of watches) check(id, watch);
		},
	};
}

let nextId = 0;

/** Calls `look` once for each block when it reaches the commitment. */
function onBlocks(chain: SolanaChain, commitment: Commitment, look: (block: Block) => void): Watch {
	let next = chain.blocks.indexOf(chain.head(commitment)) + 1;
	return () => {
		const head = chain.head(commitment);
		for (let block = chain.blocks[next]; block && block.slot <= head.slot; block = chain.blocks[next]) {
			next += 1;
			look(block);
		}
		return false;
	};
}

function isMentioned({ wire }: LandedTransaction, filter: unknown): boolean {
	if (typeof filter === "string") return true;
	const { mentions = [] } = filter as { mentions?: string[] };
	return wire.keys.some((key) => mentions.includes(key));
}
