import type { Milliseconds, Seconds } from "@geoswap/protocol";
import * as z from "zod";

export const secondsSchema: z.ZodType<Seconds, number> = z.int().positive();
export const millisecondsSchema: z.ZodType<Milliseconds, number> = z.int().positive();
