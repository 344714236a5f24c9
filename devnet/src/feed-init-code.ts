import { readArtifact } from "@geoswap/contracts";
import { type Abi, encodeDeployData, type Hex, parseUnits } from "viem";
import { feedDecimals } from "./devnet-assets.ts";

/** Returns the creation code of a devnet feed with this initial price. */
export function feedInitCode({ name, usd }: { name: string; usd: string }): Hex {
	const { abi, bytecode }: { abi: Abi; bytecode: Hex } = readArtifact("DevFeed");
	return encodeDeployData({ abi, bytecode, args: [`${name} / USD`, parseUnits(usd, feedDecimals)] });
}
