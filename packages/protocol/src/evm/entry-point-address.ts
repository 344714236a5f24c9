/** EntryPoint v0.9, the same on every chain. viem names it since 2.42; the SDK also works with earlier versions. */
export const entryPointAddress = "0x433709009B8330FDa32311DF1C2AFA402eD8D009";
