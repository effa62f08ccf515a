"""The drawing kit: shapes, splines, pictures and photographs."""
