import { type Address, type Blockhash, getBase64Decoder } from "@solana/kit";
import { accountJson } from "./account-json.ts";
import { airdropTransaction } from "./airdrop-transaction.ts";
import type { Faults } from "./faults.ts";
import { invalidParams, RpcError } from "./rpc-error.ts";
import {
	addressAt,
	asAddress,
	bytesOf,
	type Config,
	commitmentOf,
	configAt,
	headFor,
	inContext,
	type Methods,
	signatureOf,
} from "./rpc-params.ts";
import type { LandedTransaction, Simulated, SolanaChain } from "./solana-chain.ts";
import { describeTransactionError } from "./transaction-error-json.ts";
import { innerInstructions, memoOf, transactionJson } from "./transaction-json.ts";
import { isSigned, readMessage, readWireTransaction, type WireTransaction } from "./wire-transaction.ts";

const maxStatuses = 256;
const maxSignatures = 1_000;
/** Number of slots for which a node remembers statuses without searching its history. */
const statusSlots = 150;

export function transactionMethods(chain: SolanaChain, faults: Faults): Methods {
	const commitmentReached = ({ block }: LandedTransaction) =>
		(["finalized", "confirmed"] as const).find((level) => block.slot <= chain.head(level).slot) ??
		"processed";

	const isReached = (landed: LandedTransaction, config: Config) =>
		landed.block.slot <= chain.head(commitmentOf(config)).slot;

	const atLeastConfirmed = (config: Config) => {
		if (commitmentOf(config) === "processed") {
			throw invalidParams("Method does not support commitment below `confirmed`");
		}
		return config;
	};

	const enqueue = (wire: WireTransaction) => {
		if (faults.dropsSend()) return;
		const delayMs = faults.sendDelayMs();
		if (delayMs > 0) setTimeout(() => chain.send(wire), delayMs);
		else chain.send(wire);
	};

	return {
		sendTransaction: (params) => {
			const config = configAt(params, 1);
			const wire = readWireTransaction(bytesOf(params[0], config.encoding ?? "base58"));
			const signed = isSigned(wire);
			if (!config.skipPreflight) {
				if (!signed) throw new RpcError(-32003, "Transaction signature verification failure");
				const simulated = chain.simulate(wire, {
					commitment: commitmentOf(config, "preflightCommitment"),
					checksBlockhash: true,
				});
				if (simulated.error !== null) {
					throw new RpcError(
						-32002,
						`Transaction simulation failed: ${describeTransactionError(simulated.error)}`,
						{ ...simulationJson(simulated), accounts: null },
					);
				}
			}
			// A node that skips preflight passes on an unsigned transaction, and the next node drops it.
			if (signed) enqueue(wire);
			return wire.signature;
		},
		simulateTransaction: (params) => {
			const config = configAt(params, 1);
			const head = headFor(chain, config);
			const wire = readWireTransaction(bytesOf(params[0], config.encoding ?? "base58"));
			if (config.sigVerify && config.replaceRecentBlockhash) {
				throw invalidParams("sigVerify may not be used with replaceRecentBlockhash");
			}
			if (config.sigVerify && !isSigned(wire)) {
				throw new RpcError(-32003, "Transaction signature verification failure");
			}
			const simulated = chain.simulate(wire, {
				commitment: commitmentOf(config),
				checksBlockhash: !config.replaceRecentBlockhash,
			});
			return inContext(head, {
				...simulationJson(simulated),
				innerInstructions:
					config.innerInstructions && simulated.meta ? innerInstructions(simulated.meta) : null,
				accounts: simulatedAccounts(chain, simulated, config),
				replacementBlockhash: config.replaceRecentBlockhash
					? { blockhash: head.blockhash, lastValidBlockHeight: chain.lastValidBlockHeight(head) }
					: null,
			});
		},
		getSignatureStatuses: (params) => {
			const signatures = params[0];
			if (!Array.isArray(signatures)) throw invalidParams("Invalid params: expected signatures");
			if (signatures.length > maxStatuses) {
				throw invalidParams(`Too many inputs provided; max ${maxStatuses}`);
			}
			const { searchTransactionHistory } = configAt(params, 1);
			const processed = chain.head("processed");
			const asked = signatures.map(signatureOf);
			const unknown = faults.lies("getSignatureStatuses", asked);
			const value = asked.map((signature) => {
				const landed = chain.transaction(signature);
				if (!landed || unknown.has(signature)) return null;
				const age = processed.slot - landed.block.slot;
				if (age > statusSlots && !searchTransactionHistory) return null;
				const confirmationStatus = commitmentReached(landed);
				return {
					slot: landed.block.slot,
					confirmations: confirmationStatus === "finalized" ? null : processed.height - landed.block.height,
					err: landed.error,
					status: landed.error === null ? { Ok: null } : { Err: landed.error },
					confirmationStatus,
				};
			});
			return inContext(processed, value);
		},
		getTransaction: (params) => {
			const config =
				typeof params[1] === "string" ? { encoding: params[1] } : atLeastConfirmed(configAt(params, 1));
			const signature = signatureOf(params[0]);
			const landed = chain.transaction(signature);
			const unknown = faults.lies("getTransaction", [signature]);
			if (!landed || !isReached(landed, config) || unknown.has(signature)) return null;
			const { version } = landed.wire.message;
			if (version !== "legacy" && config.maxSupportedTransactionVersion === undefined) {
				throw new RpcError(
					-32015,
					`Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
				);
			}
			return transactionJson(landed, config.encoding ?? "json");
		},
		getSignaturesForAddress: (params) => {
			const config = atLeastConfirmed(configAt(params, 1));
			const limit = Number(config.limit ?? maxSignatures);
			if (limit < 1 || limit > maxSignatures) throw invalidParams(`Invalid limit; max ${maxSignatures}`);
			const newestFirst = chain.transactionsOf(addressAt(params, 0)).toReversed();
			const placeOf = (signature: unknown) =>
				newestFirst.findIndex(({ wire }) => wire.signature === signature);
			if (config.before !== undefined && placeOf(config.before) < 0) return [];
			const from = config.before === undefined ? 0 : placeOf(config.before) + 1;
			const until = config.until === undefined ? -1 : placeOf(config.until);
			return newestFirst
				.slice(from, until < 0 ? undefined : until)
				.filter((landed) => isReached(landed, config))
				.slice(0, limit)
				.map((landed) => ({
					signature: landed.wire.signature,
					slot: landed.block.slot,
					err: landed.error,
					memo: memoOf(landed.wire),
					blockTime: landed.block.unixSeconds,
					confirmationStatus: commitmentReached(landed),
				}));
		},
		getFeeForMessage: (params) => {
			const config = configAt(params, 1);
			const head = headFor(chain, config);
			const { fee, blockhash } = readMessage(bytesOf(params[0], "base64"));
			return inContext(head, chain.isBlockhashKnown(blockhash, head.height) ? fee : null);
		},
		requestAirdrop: async (params) => {
			const { blockhash } = chain.head("processed");
			const bytes = await airdropTransaction({
				to: addressAt(params, 0),
				lamports: BigInt(Number(params[1])),
				blockhash: blockhash as Blockhash,
			});
			const wire = readWireTransaction(bytes);
			chain.send(wire);
			return wire.signature;
		},
	};
}

function simulationJson({ error, meta }: Simulated) {
	const returned = meta?.returnData();
	return {
		err: error,
		logs: meta?.logs() ?? [],
		unitsConsumed: meta?.computeUnitsConsumed() ?? 0n,
		loadedAccountsDataSize: 0,
		innerInstructions: null,
		replacementBlockhash: null,
		returnData:
			returned && returned.data().length > 0
				? { programId: returned.programId(), data: [getBase64Decoder().decode(returned.data()), "base64"] }
				: null,
	};
}

/** Returns the requested accounts as they would be after the transaction. */
function simulatedAccounts(chain: SolanaChain, { accounts, error }: Simulated, config: Config) {
	const asked = config.accounts as { addresses?: unknown[]; encoding?: string } | undefined;
	if (!asked?.addresses) return null;
	const read = (address: Address) => {
		const account = accounts.get(address) ?? chain.states.read(address);
		return account && account.lamports > 0n ? account : undefined;
	};
	return asked.addresses.map((address) =>
		error === null
			? accountJson(read(asAddress(address)), { encoding: asked.encoding ?? "base64" }, read)
			: null,
	);
}
