"""Reading LISA's traffic lights, and finding their lamps."""
