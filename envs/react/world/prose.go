package world

// prosePages renders paragraphs.
func (w *World) prosePages() []Page { return nil }
