import { readArtifact } from "@geoswap/contracts";
import { type Abi, encodeDeployData, type Hex, parseUnits } from "viem";
import { feedDecimals } from "./devnet-tokens.ts";

/** Returns the creation code of a devnet feed with this initial price. */
export function feedInitCode({ name, usd }: { name: string; usd: string }): Hex {
	return feedInitCodeFor({ description: `${name} / USD`, usd });
}

/** Returns the creation code of a devnet feed that describes itself so. */
export function feedInitCodeFor({ description, usd }: { description: string; usd: string }): Hex {
	const { abi, bytecode }: { abi: Abi; bytecode: Hex } = readArtifact("DevFeed");
	return encodeDeployData({ abi, bytecode, args: [description, parseUnits(usd, feedDecimals)] });
}
