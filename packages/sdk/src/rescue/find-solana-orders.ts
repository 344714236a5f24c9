import {
	clockAddress,
	decodeClock,
	decodeOrderAccount,
	inputAddress,
	type OrderAccount,
	type ProgramDeployment,
	programAccountSizes,
	type SolanaAddress,
	solanaNativeToken,
} from "@geoswap/protocol";
import {
	type Base58EncodedBytes,
	type GetMultipleAccountsApi,
	type GetProgramAccountsApi,
	getBase64Encoder,
	type Rpc,
} from "@solana/kit";

/** An order that a wallet opened in the program, as the chain has it. */
export type SolanaOrder = OrderAccount & {
	/**
	 * `escrow`: the program holds the input, and from `takeableAt` on, in unix seconds, anyone may send it back to the
	 * wallet. `owed`: the wallet is to get the input, and it was not sent yet. `refunded`: the wallet has the input.
	 * `delivered`: the service has the input, or will get it.
	 */
	place: "escrow" | "owed" | "refunded" | "delivered";
	takeableAt: bigint;
	/** True if a refund can be sent now. */
	isTakeable: boolean;
	/** The amount that the program holds, in the input's smallest units. */
	held: bigint;
};

/** The place of the wallet in an order's account. */
const walletOffset = 112n;
const accountsPerRequest = 100;

/**
 * Finds the orders of a wallet in the program, with nothing but the chain's own accounts. An order whose account was
 * closed is not found. Its input has then been paid, to the service or back to the wallet.
 */
export async function findSolanaOrders(
	rpc: Rpc<GetProgramAccountsApi & GetMultipleAccountsApi>,
	{ program, wallet }: { program: Pick<ProgramDeployment, "address">; wallet: SolanaAddress },
): Promise<SolanaOrder[]> {
	const found = await rpc
		.getProgramAccounts(program.address, {
			commitment: "confirmed",
			encoding: "base64",
			filters: [
				{ dataSize: BigInt(programAccountSizes.order) },
				{
					memcmp: { offset: walletOffset, bytes: wallet as string as Base58EncodedBytes, encoding: "base58" },
				},
			],
		})
		.send();
	const orders = found.flatMap(({ account }) => {
		const order = decodeOrderAccount(bytesOf(account.data[0]));
		// A node may return more than was requested.
		return order?.wallet === wallet ? [{ order, lamports: account.lamports }] : [];
	});
	const amounts = await readInputs(
		rpc,
		await Promise.all(orders.map(({ order }) => inputAddress(program.address, order.orderId))),
	);
	const nowSeconds = await readTime(rpc);
	return orders.map(({ order, lamports }, i) => {
		const isNative = order.token === solanaNativeToken;
		const takeableAt = takeableFrom(order);
		const held = isNative ? lamports - order.rent : (amounts[i] ?? 0n);
		const place = placeOf(order, held);
		return {
			...order,
			place,
			takeableAt,
			isTakeable: held > 0n && (place === "owed" || (place === "escrow" && nowSeconds >= takeableAt)),
			held,
		};
	});
}

function placeOf({ state, isPaid }: OrderAccount, held: bigint): SolanaOrder["place"] {
	if (state === "released") return "delivered";
	// SOL that arrives after the payment belongs to the wallet too, and is paid by another call.
	if (state === "refunded") return isPaid && held === 0n ? "refunded" : "owed";
	return "escrow";
}

/** Returns the first second in which anyone may have the program refund an order. */
function takeableFrom({ state, isLocal, openDeadline, fillDeadline, refundAfter }: OrderAccount): bigint {
	// The order's accounts were created, but it was not opened. It can be opened until its deadline.
	if (state === "prepared") return openDeadline + 1n;
	return isLocal ? fillDeadline : refundAfter;
}

/** Reads the amounts in token accounts; undefined for one that does not exist. */
async function readInputs(
	rpc: Rpc<GetMultipleAccountsApi>,
	addresses: readonly SolanaAddress[],
): Promise<(bigint | undefined)[]> {
	const amounts: (bigint | undefined)[] = [];
	for (let i = 0; i < addresses.length; i += accountsPerRequest) {
		for (const data of await readData(rpc, addresses.slice(i, i + accountsPerRequest))) {
			// A token account begins with mint, owner and amount.
			amounts.push(data && new DataView(data.buffer, data.byteOffset).getBigUint64(64, true));
		}
	}
	return amounts;
}

/** Reads the time by which the program judges deadlines. */
async function readTime(rpc: Rpc<GetMultipleAccountsApi>): Promise<bigint> {
	const [data] = await readData(rpc, [clockAddress]);
	if (!data) throw new Error("the endpoint does not return the chain's clock; use another endpoint");
	return decodeClock(data);
}

async function readData(
	rpc: Rpc<GetMultipleAccountsApi>,
	addresses: readonly SolanaAddress[],
): Promise<(Uint8Array | undefined)[]> {
	const { value } = await rpc
		.getMultipleAccounts([...addresses], { commitment: "confirmed", encoding: "base64" })
		.send();
	return value.map((account) => (account ? bytesOf(account.data[0]) : undefined));
}

function bytesOf(base64: string): Uint8Array {
	return new Uint8Array(getBase64Encoder().encode(base64));
}
