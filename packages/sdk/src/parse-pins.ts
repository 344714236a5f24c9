import {
	contractAddressSchema,
	type Deployment,
	evmAddressSchema,
	solanaAddressSchema,
	solanaChainId,
} from "@geoswap/protocol";
import * as z from "zod";

/** A chain of a deployment file that this version cannot read. */
export type UnreadChain = { chain: string; problem: string };

// Only what a caller needs of the file is checked. Other fields may be present or not, since they configure servers and
// newer versions add some. The SDK itself checks the hash of an attester set before it uses it.

const assetFields = {
	symbol: z.string().min(1).max(32),
	decimals: z.int().min(0).max(36),
	kind: z.string(),
};

const attesterSetSchema = z.looseObject({
	threshold: z.int().positive(),
	attesters: z.array(evmAddressSchema).min(1),
	hash: z.string(),
});

const evmChainSchema = z.looseObject({
	chainId: z.int().positive(),
	name: z.string().min(1),
	contracts: z.looseObject({
		delegate: contractAddressSchema,
		typedDelegate: contractAddressSchema,
		earlierDelegates: z.array(contractAddressSchema),
		escrow: contractAddressSchema,
		vault: contractAddressSchema,
	}),
	attesterSet: attesterSetSchema,
	assets: z.array(z.looseObject({ ...assetFields, address: evmAddressSchema })).min(1),
});

const solanaSchema = z.looseObject({
	chainId: z.literal(solanaChainId),
	name: z.string().min(1),
	genesisHash: z.string(),
	feePayers: z.array(solanaAddressSchema).min(1),
	program: z.looseObject({
		address: solanaAddressSchema,
		vault: solanaAddressSchema,
		upgradeAuthority: solanaAddressSchema.nullable(),
		attesterSet: attesterSetSchema,
	}),
	assets: z.array(z.looseObject({ ...assetFields, address: solanaAddressSchema })).min(1),
});

const fileSchema = z.looseObject({
	chains: z.array(z.unknown()),
	solana: z.unknown().optional(),
	receiptSigners: z.array(evmAddressSchema).optional(),
});

/**
 * Reads a deployment file as a caller's pins. A chain that this version cannot read is left out, so nothing is signed
 * for it, and the pins of the other chains stay valid. Throws a TypeError if nothing can be read, or if the file names
 * a chain twice.
 */
export function parsePins(file: unknown): { pins: Deployment; unread: UnreadChain[] } {
	const parsed = fileSchema.safeParse(file);
	if (!parsed.success) throw unreadable(firstIssue(parsed.error));
	const { chains, solana, receiptSigners } = parsed.data;
	const unread: UnreadChain[] = [];
	const read: z.infer<typeof evmChainSchema>[] = [];
	const leaveOut = (chain: string, error: z.ZodError) => {
		unread.push({ chain, problem: firstIssue(error) });
	};
	for (const [i, chain] of chains.entries()) {
		const { data, error } = evmChainSchema.safeParse(chain);
		if (data) read.push(data);
		else leaveOut(nameOf(chain) ?? `chains.${i}`, error);
	}
	const onSolana = solana === undefined ? undefined : solanaSchema.safeParse(solana);
	if (onSolana?.error) leaveOut("solana", onSolana.error);
	const twice = read.find(({ chainId }, i) => read.findIndex((other) => other.chainId === chainId) !== i);
	if (twice) throw unreadable(`chain ${twice.chainId} is listed twice`);
	if (read.length === 0 && !onSolana?.data) throw unreadable(unread[0]?.problem ?? "it has no chains");
	const pins = {
		chains: read,
		...(onSolana?.data && { solana: onSolana.data }),
		...(receiptSigners && { receiptSigners }),
	};
	// Fields of servers, which a caller does not use, are copied unchanged.
	return { pins: pins as unknown as Deployment, unread };
}

function firstIssue({ issues }: z.ZodError): string {
	const [issue] = issues;
	return issue ? `${issue.path.join(".") || "its content"}: ${issue.message}` : "unreadable";
}

function unreadable(why: string): TypeError {
	return new TypeError(`This is not a deployment file: ${why}. Get the operator's deployment.json.`);
}

function nameOf(chain: unknown): string | undefined {
	const { chainId } = (chain ?? {}) as { chainId?: unknown };
	return typeof chainId === "number" ? String(chainId) : undefined;
}
